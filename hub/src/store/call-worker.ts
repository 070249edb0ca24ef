// The thread of the call log: so no SQLite runs on the one that serves calls.

import { setPriority } from "node:os";
import { parentPort, workerData } from "node:worker_threads";
import { CallClerk } from "./call-clerk.ts";
import type { ToThread } from "./call-thread.ts";

/** A quarter of what calls get, where both want the core: still enough for several times the calls that one core can serve. */
const NICE = 5;

const port = parentPort;
if (port === null) throw new Error("This is a worker thread of the hub");
// Where they share a core, calls go first: what is in the journal is safe, and may wait. Only on Linux is a thread meant by it,
// elsewhere it would be the whole hub.
if (process.platform === "linux") setPriority(NICE);
const clerk = new CallClerk(workerData, (message) => port.postMessage(message));
port.on("message", (message: ToThread) => clerk.receive(message, () => port.close()));
