// Which log level each legacy server is set to. A legacy server has one level for all clients, so it gets the least urgent level
// that any client wants, in any group; messages below a client's level are dropped when they arrive. Modern servers get the level
// with every request.

import { isLogLevel, lowestLevel } from "../protocol/rpc/log-level.ts";
import type { Session } from "../protocol/serve/service.ts";
import type { Supervisor } from "../servers/supervisor.ts";

interface SessionLevel {
  readonly level: string;
  /** The servers of the session's group, as it is now. */
  readonly servers: () => readonly string[];
}

export class LogLevels {
  readonly #supervisor: Supervisor;
  readonly #sessions = new Map<Session, SessionLevel>();
  /** The lowest level of modern requests, by server. It stays: modern clients have no session that could end. */
  readonly #requests = new Map<string, string>();

  constructor(supervisor: Supervisor) {
    this.#supervisor = supervisor;
  }

  /**
   * Resolves when the running servers have accepted the level. A server that is down gets it when it starts; that is not an
   * error.
   */
  async set(session: Session, level: SessionLevel): Promise<void> {
    this.#sessions.set(session, level);
    await this.#apply(level.servers());
  }

  /** Servers or groups changed: servers that are new to a session get its level. */
  catalogChanged(): void {
    if (this.#sessions.size === 0) return;
    void this.#apply([...new Set([...this.#sessions.values()].flatMap(({ servers }) => servers()))]);
  }

  end(session: Session): void {
    const level = this.#sessions.get(session);
    this.#sessions.delete(session);
    if (level !== undefined) void this.#apply(level.servers());
  }

  /** The level of a modern request to a legacy server. Resolves when the server has accepted it. */
  async request(server: string, level: string): Promise<void> {
    if (!isLogLevel(level) || !this.#supervisor.has(server)) return;
    const known = this.#requests.get(server);
    // A server that replaced another one of the same name has no level yet.
    const isSet = this.#supervisor.get(server).logLevel !== undefined;
    if (isSet && lowestLevel([known, level]) === known) return;
    this.#requests.set(server, level);
    await this.#apply([server]);
  }

  /** The server was removed; it may have been added again in the meantime. */
  forget(server: string): void {
    if (!this.#supervisor.has(server)) this.#requests.delete(server);
  }

  async #apply(servers: readonly string[]): Promise<void> {
    const applied = servers.map(async (name) => {
      const sessions = [...this.#sessions.values()].filter((session) => session.servers().includes(name));
      const lowest = lowestLevel([this.#requests.get(name), ...sessions.map(({ level }) => level)]);
      const server = this.#supervisor.get(name);
      if (lowest !== undefined && lowest !== server.logLevel) await server.setLogLevel(lowest);
    });
    await Promise.allSettled(applied);
  }
}
