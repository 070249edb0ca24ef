// Every kind of export, and a file of events, passes the contract of all chat sources.

import { createEventNetwork, createExportNetwork } from "../support/chat/file-network.ts";
import { describeSource } from "../support/chat/contract.ts";
import { EXPORTS } from "../support/chat/exports.ts";

const traits = { keepsWhileAway: true, many: 100_000 };
for (const one of EXPORTS) describeSource(`${one.importer.format} (file)`, traits, () => createExportNetwork(one));
describeSource("events (file)", traits, createEventNetwork);
