// Records what reached the upstream, one line per event, written synchronously so that it survives a kill.

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

  /** Counted over all starts of this upstream. */
  count(what, fits = () => true) {
    if (!existsSync(this.#path)) return 0;
    const lines = readFileSync(this.#path, "utf8").split("\n").filter(Boolean);
    return lines.map((line) => JSON.parse(line)).filter((event) => event.what === what && fits(event)).length;
  }

  /** Waits until the test opens a gate by creating a file with its name beside the record. */
  async gate(name) {
    this.write("waiting", { gate: name });
    while (!existsSync(`${this.#path}.${name}`)) await sleep(POLL_MS);
  }
}
