// Runs a source into a store until SIGTERM; or kills itself, before or after the commit of the first batch with a message. Says
// what happens, line by line. For contract.ts. Usage: node run-source.mjs <dist folder> <database> <program as JSON> <moment>

import { writeSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [dist, path, program, moment] = process.argv.slice(2);
const { module, create, options, secrets } = JSON.parse(program);
const load = (file) => import(pathToFileURL(join(dist, file)).href);
const [{ openStore }, factory] = await Promise.all([load("store/store.js"), load(module)]);

const store = await openStore(path);
const stop = new AbortController();
process.on("SIGTERM", () => stop.abort());
const secretly = Object.entries(secrets).map(([name, value]) => [name, async () => value]);
const source = factory[create]({ ...options, ...Object.fromEntries(secretly) });
// Not through a stream: what was said must be out before the next thing happens.
const say = (text) => writeSync(1, `${text}\n`);

await source.run({
  sink: async (batch) => {
    const said = batch.filter(({ type }) => type === "message").map(({ message }) => message.content);
    if (said.length > 0 && moment === "before") process.kill(process.pid, "SIGKILL");
    store.apply(source.id, batch);
    if (said.length > 0 && moment === "after") process.kill(process.pid, "SIGKILL");
    for (const content of said) say(`message ${content}`);
  },
  checkpoint: store.checkpoint(source.id),
  onState: ({ status }) => say(status),
  signal: stop.signal,
  log: { info: () => {}, warn: () => {} },
  now: Date.now,
});
await store.close();
