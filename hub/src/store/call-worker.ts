// The thread that has the call log's database: enters what the hub writes into its journal, answers queries, prunes. So
// no SQLite runs on the thread that serves calls. Told what to do by call-thread.ts.

import { parentPort, workerData } from "node:worker_threads";
import { toHubError } from "../errors.ts";
import { CallStore } from "./call-store.ts";
import type { FromThread, ThreadSettings, ToThread } from "./call-thread.ts";
import { Ingest } from "./ingest.ts";

/** Between attempts, where the database cannot be written. */
const RETRY_MS = 500;
/** Somebody may have been killed meanwhile whose log lives in the same folder. */
const LOOK_EVERY_MS = 600_000;

const port = parentPort;
if (port === null) throw new Error("This is a worker thread of the hub");
const { path, folder, writer, retention }: ThreadSettings = workerData;
const say = (message: FromThread) => port.postMessage(message);
const onWarning = (message: string) => say({ type: "warning", message });
const store = new CallStore(path, {
  retention,
  onWarning,
  onDegraded: (why) => say({ type: "degraded", why }),
});
const ingest = new Ingest({ folder, own: writer, store, onWarning });
/** Bytes that the hub has written to its journals by now, in all. */
let written = 0;
let retry: NodeJS.Timeout | undefined;
/** One thing at a time, in the order in which it was asked for. */
let queue: Promise<unknown> = Promise.resolve();

port.on("message", (message: ToThread) => {
  queue = queue.then(() => act(message));
});
const looking = setInterval(() => {
  queue = queue.then(enterLeft);
}, LOOK_EVERY_MS);

async function act(message: ToThread): Promise<void> {
  switch (message.type) {
    case "more":
      written = message.written;
      return enterOwn();
    case "left":
      return enterLeft();
    case "query":
      await enterLeft();
      return answer(message.id, () => store.query(message.query));
    case "stats":
      await enterLeft();
      return answer(message.id, () => store.stats(message.query));
    case "prune":
      return answer(message.id, () => store.prune(message.now));
    case "close":
      clearInterval(looking);
      await answer(message.id, async () => {
        // A process that was told to end has no time for a second attempt: somebody else will.
        await ingest.enterOwn({ isLast: true }).catch(() => ingest.leaveOwn());
        clearTimeout(retry);
        await store.close();
      });
      port?.close();
  }
}

async function answer(id: number, work: () => Promise<unknown>): Promise<void> {
  try {
    say({ type: "reply", id, value: await work() });
  } catch (error) {
    say({ type: "reply", id, error: toHubError(error).toJSON() });
  }
}

/** What cannot be entered stays in its journal, and is tried again. */
async function enterOwn(): Promise<void> {
  const upTo = written;
  clearTimeout(retry);
  try {
    await ingest.enterOwn();
    say({ type: "entered", upTo });
  } catch {
    // Why is told by the store, once.
    retry = setTimeout(() => {
      queue = queue.then(() => enterOwn());
    }, RETRY_MS);
  }
}

/** Nobody waits for these; the next look may have more luck. */
async function enterLeft(): Promise<void> {
  await ingest.enterLeft().catch(() => undefined);
}
