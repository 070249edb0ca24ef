// Applies batches to a store until it is killed, going on where its checkpoint says; says the number of each batch once it is
// committed. For crash.test.ts. Usage: node apply-loop.mjs <dist folder> <database> <source> [last batch]

import { join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { say } from "../../../test/support/say.mjs";

const [dist, path, source, last] = process.argv.slice(2);
const { openStore } = await import(pathToFileURL(join(dist, "store/store.js")).href);
const PER_BATCH = 20;

const store = await openStore(path);
for (let number = Number(store.checkpoint(source).batch ?? 0) + 1; number <= Number(last ?? Infinity); number++) {
  store.apply(source, batch(number));
  say(number);
  await nextTurn();
}
await store.close();

/** Adds messages, edits and deletes some of the batch before, and moves the checkpoint on. */
function batch(number) {
  const id = (nth, of = number) => `${of}.${nth}`;
  const message = (nth) => {
    const at = ((number * 7919) % 5000) * 1000 + (nth % 4);
    const content = `word${number} text ${"x".repeat((number * nth) % 400)}`;
    return {
      type: "message",
      origin: "import",
      message: { id: id(nth), chat: "1", sender: "u", at, kind: "text", content },
    };
  };
  return [
    ...Array.from({ length: PER_BATCH }, (_, nth) => message(nth)),
    { type: "delete", chat: "1", ids: [id(0, number - 1)], at: number },
    { type: "edit", chat: "1", id: id(1, number - 1), content: `edited${number - 1}`, at: number },
    { type: "checkpoint", state: { batch: String(number) } },
  ];
}
