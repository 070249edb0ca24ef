// The program of the worker thread whose database is PostgreSQL.

import { runWorker } from "../../call-log/journal/worker.ts";
import type { DatabaseAddress } from "../url.ts";
import { PgCallStore } from "./pg-call-store.ts";

// eslint-disable-next-line typescript/no-unsafe-type-assertion -- set by pg-call-log.ts
runWorker((address, options) => new PgCallStore(address as DatabaseAddress, options));
