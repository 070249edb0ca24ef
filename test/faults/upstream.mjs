// A scripted server for the fault tests: `upstream.mjs <scenario.json>`. It is an ordinary server of its era, except where a step
// of the scenario applies. scenario.ts defines the shape of a scenario and the faults.

import { readFileSync } from "node:fs";
import { serveHttp } from "./upstream/http.mjs";
import { createOffer } from "./upstream/offer.mjs";
import { processFaults } from "./upstream/process.mjs";
import { Script } from "./upstream/script.mjs";
import { Spy } from "./upstream/spy.mjs";
import { serveStdio } from "./upstream/stdio.mjs";

const scenario = JSON.parse(readFileSync(process.argv[2], "utf8"));
const spy = new Spy(scenario.spy);
const start = spy.count("start") + 1;
spy.write("start", { start });
if (scenario.ignoreSigterm === true) process.on("SIGTERM", () => spy.write("sigterm"));
if (scenario.shout !== undefined) process.stderr.write(`${process.env[scenario.shout]}\n`);

const fault = scenario.starts?.[start - 1];
if (fault !== undefined && fault !== null) await processFaults[fault.do]({ step: fault, spy });

const script = new Script(scenario.steps ?? [], { spy, start });
const serve = scenario.transport === "http" ? serveHttp : serveStdio;
serve({ scenario, script, spy, offer: createOffer(scenario, start) });
