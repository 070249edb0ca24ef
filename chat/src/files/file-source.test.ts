import { createEventNetwork, createExportNetwork } from "../../../test/support/chat/file-network.ts";
import { describeSource } from "../../../test/support/chat/contract.ts";
import { EXPORTS } from "../../../test/support/chat/exports.ts";

const traits = { keepsWhileAway: true, many: 100_000 };
for (const one of EXPORTS) describeSource(`${one.importer.format} (file)`, traits, () => createExportNetwork(one));
describeSource("events (file)", traits, createEventNetwork);
