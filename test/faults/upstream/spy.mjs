// What reached the upstream, one line per event, appended at once: the count outlives any kill of the upstream.

import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

const POLL_MS = 5;

export class Spy {
  #path;

  constructor(path) {
    this.#path = path;
  }

  write(what, about = {}) {
    appendFileSync(this.#path, `${JSON.stringify({ what, ...about, pid: process.pid, at: Date.now() })}\n`);
  }

  /** Over all starts of this upstream. */
  count(what, fits = () => true) {
    if (!existsSync(this.#path)) return 0;
    const lines = readFileSync(this.#path, "utf8").split("\n").filter(Boolean);
    return lines.map((line) => JSON.parse(line)).filter((event) => event.what === what && fits(event)).length;
  }

  /** Waits until the test opens a gate: it makes a file of that name beside the spy's. */
  async gate(name) {
    this.write("waiting", { gate: name });
    while (!existsSync(`${this.#path}.${name}`)) await sleep(POLL_MS);
  }
}
