// Where hosts are, for the connections to remote servers. The system answers, on one of the few threads that all lookups
// share, and some of its answers take long. So nothing is asked twice at a time, nothing for which nobody waits any more,
// and nothing about this machine.

import { lookup as askSystem, type LookupAddress, type LookupOptions } from "node:dns";
import type { LookupFunction } from "node:net";

type Callback = Parameters<LookupFunction>[2];

interface Question {
  readonly key: string;
  readonly host: string;
  readonly options: LookupOptions;
  readonly waiting: Callback[];
  readonly until: number;
}

/** RFC 6761, section 6.3: these names are this machine's, whatever a name server says. */
const LOCAL = /^(?:.+\.)?localhost\.?$/i;
const HERE: readonly LookupAddress[] = [
  { address: "127.0.0.1", family: 4 },
  { address: "::1", family: 6 },
];
/** Node works on no more than this at a time; those that wait here can still be dropped. */
const AT_ONCE = 2;
/** Nobody waits longer for a connection. */
const PATIENCE_MS = 5000;

/** @example new Pool(origin, { connect: { lookup: createLookup() } }) */
export function createLookup(ask: LookupFunction = askSystem): LookupFunction {
  /** Asked or to be asked. One goes with its answer: the next connection is looked up anew. */
  const open = new Map<string, Question>();
  const queue: Question[] = [];
  let running = 0;

  const answer = (question: Question, ...given: Parameters<Callback>) => {
    open.delete(question.key);
    for (const callback of question.waiting) callback(...given);
  };
  const next = () => {
    while (running < AT_ONCE) {
      const question = queue.shift();
      if (question === undefined) return;
      if (performance.now() > question.until) {
        answer(question, new LookupTimeout(question.host), []);
        continue;
      }
      running++;
      ask(question.host, question.options, (...given) => {
        running--;
        answer(question, ...given);
        next();
      });
    }
  };

  return (host, options, callback) => {
    if (LOCAL.test(host)) return answerLocal(options, callback);
    const key = `${host} ${options.family} ${options.hints} ${options.all}`;
    const asked = open.get(key);
    if (asked !== undefined) return void asked.waiting.push(callback);
    const question = { key, host, options, waiting: [callback], until: performance.now() + PATIENCE_MS };
    open.set(key, question);
    queue.push(question);
    next();
  };
}

class LookupTimeout extends Error {
  /** What the system says where no name server answers. */
  readonly code = "EAI_AGAIN";

  constructor(host: string) {
    super(`"${host}" was not looked up: the name servers are too slow`);
  }
}

function answerLocal({ all, family }: LookupOptions, callback: Callback): void {
  const wanted = family === 6 || family === "IPv6" ? 6 : family === 4 || family === "IPv4" ? 4 : undefined;
  const found = HERE.filter((address) => wanted === undefined || address.family === wanted);
  const [first] = found;
  // Later, as every other answer comes.
  if (all === true || first === undefined) process.nextTick(callback, null, found);
  else process.nextTick(callback, null, first.address, first.family);
}
