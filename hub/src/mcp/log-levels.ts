// Who wants which log messages of a legacy server, which has one level for all: the least urgent that anybody wants, in any
// group. What is more than a client wants is kept from it when the message comes (log-level.ts). Modern servers are told with
// every request.

import type { Supervisor } from "../servers/supervisor.ts";
import type { Session } from "../wire/server.ts";
import { isLogLevel, lowestLevel } from "./log-level.ts";

interface Wish {
  readonly level: string;
  /** The servers that the session can hear, which its group may change. */
  readonly servers: () => readonly string[];
}

export class LogLevels {
  readonly #supervisor: Supervisor;
  readonly #sessions = new Map<Session, Wish>();
  /** The lowest of the requests of modern clients, by server: they have no session that could end. */
  readonly #requests = new Map<string, string>();

  constructor(supervisor: Supervisor) {
    this.#supervisor = supervisor;
  }

  /** Resolves when the servers know. One that is down learns it when it comes back; its silence is nobody's failure. */
  async set(session: Session, wish: Wish): Promise<void> {
    this.#sessions.set(session, wish);
    await this.#tell(wish.servers());
  }

  /** Servers came or went, or changed their groups: those that are new to a session learn what it wants. */
  catalogChanged(): void {
    if (this.#sessions.size === 0) return;
    void this.#tell([...new Set([...this.#sessions.values()].flatMap(({ servers }) => servers()))]);
  }

  end(session: Session): void {
    const wish = this.#sessions.get(session);
    this.#sessions.delete(session);
    if (wish !== undefined) void this.#tell(wish.servers());
  }

  /** A modern request for a legacy server says what it wants to hear. Resolves when the server knows. */
  async request(server: string, level: string): Promise<void> {
    if (!isLogLevel(level) || !this.#supervisor.has(server)) return;
    const known = this.#requests.get(server);
    // One that took the place of a server of the same name has been told nothing.
    const isTold = this.#supervisor.get(server).logLevel !== undefined;
    if (isTold && lowestLevel([known, level]) === known) return;
    this.#requests.set(server, level);
    await this.#tell([server]);
  }

  /** It was removed: nothing is kept of it, unless it came back meanwhile. */
  forget(server: string): void {
    if (!this.#supervisor.has(server)) this.#requests.delete(server);
  }

  async #tell(servers: readonly string[]): Promise<void> {
    const telling = servers.map(async (name) => {
      const wishes = [...this.#sessions.values()].filter((wish) => wish.servers().includes(name));
      const lowest = lowestLevel([this.#requests.get(name), ...wishes.map(({ level }) => level)]);
      const server = this.#supervisor.get(name);
      if (lowest !== undefined && lowest !== server.logLevel) await server.setLogLevel(lowest);
    });
    await Promise.allSettled(telling);
  }
}
