// Runs a source into a store until it ends or SIGTERM, or kills itself before or after committing the first batch with a message.
// Prints progress lines. Usage: node run-source.mjs <dist folder> <database> <entry as JSON> <moment>

import { writeSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [dist, path, entry, moment] = process.argv.slice(2);
const load = (file) => import(pathToFileURL(join(dist, file)).href);
const [{ openStore }, { createSource }] = await Promise.all([load("store/store.js"), load("sources/kinds.js")]);

const store = await openStore(path);
const stop = new AbortController();
process.on("SIGTERM", () => stop.abort());
const source = await createSource("source", { chats: {}, ...JSON.parse(entry) }, { env: {}, timeZone: "UTC" });
// Synchronous, so that a line is written before a kill.
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
