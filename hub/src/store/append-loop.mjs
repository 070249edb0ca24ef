// Appends calls to a log, several at a time, until it is killed; says the name of each one once it is acknowledged. For
// crash.test.ts. Usage: node append-loop.mjs <dist folder> <database> <run>

import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { say } from "../../../test/support/say.mjs";

const [dist, path, run] = process.argv.slice(2);
const load = (file) => import(pathToFileURL(join(dist, file)).href);
const { SqliteCallLog } = await load("store/call-log.js");
const { Redactor } = await load("calls/redact.js");

const log = new SqliteCallLog(path, { redactor: new Redactor() });
const params = Buffer.from('{"name":"echo","arguments":{"text":"hello"}}');
let count = 0;

async function appendForever(lane) {
  for (;;) {
    const workflowId = `${run}.${lane}.${count++}`;
    const result = Buffer.from(JSON.stringify({ text: "x".repeat((count % 50) * 200) }));
    const call = {
      at: Date.now(),
      server: "s",
      tool: `t${lane}`,
      group: "g",
      workflowId,
      params,
    };
    const open = log.begin(call);
    await open.begun;
    await open.finish({ result, success: true, durationMs: 1 });
    say(log.degraded === undefined ? workflowId : "degraded");
  }
}

await Promise.all(Array.from({ length: 6 }, (_, lane) => appendForever(lane)));
