// DNS lookups for remote servers. The system's lookups are slow and share a few threads with all file access of the process, so
// equal lookups are single flight, lookups that waited too long are dropped, and localhost is never looked up.

import { lookup as systemLookup, type LookupAddress, type LookupOptions } from "node:dns";
import type { LookupFunction } from "node:net";

type Callback = Parameters<LookupFunction>[2];

interface Lookup {
  readonly key: string;
  readonly host: string;
  readonly options: LookupOptions;
  readonly callbacks: Callback[];
  readonly deadline: number;
}

/** RFC 6761, section 6.3: these names are always loopback. */
const LOCAL = /^(?:.+\.)?localhost\.?$/i;
const LOOPBACK: readonly LookupAddress[] = [
  { address: "127.0.0.1", family: 4 },
  { address: "::1", family: 6 },
];
/** Of Node's few threads. Queued lookups can still be dropped. */
const MAX_CONCURRENT = 2;
/** No connection attempt waits longer. */
const QUEUE_TIMEOUT_MS = 5000;

/** @example new Pool(origin, { connect: { lookup: createLookup() } }) */
export function createLookup(resolve: LookupFunction = systemLookup): LookupFunction {
  /** Running or queued. Results are not cached: the next connection is looked up again. */
  const open = new Map<string, Lookup>();
  const queue: Lookup[] = [];
  let running = 0;

  const finish = (lookup: Lookup, ...result: Parameters<Callback>) => {
    open.delete(lookup.key);
    for (const callback of lookup.callbacks) callback(...result);
  };
  const next = () => {
    while (running < MAX_CONCURRENT) {
      const lookup = queue.shift();
      if (lookup === undefined) return;
      if (performance.now() > lookup.deadline) {
        finish(lookup, new LookupTimeout(lookup.host), []);
        continue;
      }
      running++;
      resolve(lookup.host, lookup.options, (...result) => {
        running--;
        finish(lookup, ...result);
        next();
      });
    }
  };

  return (host, options, callback) => {
    if (LOCAL.test(host)) return answerLocal(options, callback);
    const key = `${host} ${options.family} ${options.hints} ${options.all}`;
    const known = open.get(key);
    if (known !== undefined) return void known.callbacks.push(callback);
    const lookup = { key, host, options, callbacks: [callback], deadline: performance.now() + QUEUE_TIMEOUT_MS };
    open.set(key, lookup);
    queue.push(lookup);
    next();
  };
}

class LookupTimeout extends Error {
  /** The system's code for a name server that does not answer. */
  readonly code = "EAI_AGAIN";

  constructor(host: string) {
    super(`"${host}" was not looked up: the name servers are too slow`);
  }
}

function answerLocal({ all, family }: LookupOptions, callback: Callback): void {
  const wanted = family === 6 || family === "IPv6" ? 6 : family === 4 || family === "IPv4" ? 4 : undefined;
  const found = LOOPBACK.filter((address) => wanted === undefined || address.family === wanted);
  const [first] = found;
  // Asynchronous like every other lookup.
  if (all === true || first === undefined) process.nextTick(callback, null, found);
  else process.nextTick(callback, null, first.address, first.family);
}
