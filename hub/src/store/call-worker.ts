// The thread of the call log: so no SQLite runs on the one that serves calls.

import { parentPort, workerData } from "node:worker_threads";
import { CallClerk } from "./call-clerk.ts";
import type { ToThread } from "./call-thread.ts";

const port = parentPort;
if (port === null) throw new Error("This is a worker thread of the hub");
const clerk = new CallClerk(workerData, (message) => port.postMessage(message));
port.on("message", (message: ToThread) => clerk.receive(message, () => port.close()));
