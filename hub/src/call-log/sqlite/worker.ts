// The program of the worker thread whose database is a file.

import { runWorker } from "../journal/worker.ts";
import { SqliteCallStore } from "./store.ts";

// A path: see sqlite-call-log.ts.
runWorker((path, options) => new SqliteCallStore(String(path), options));
