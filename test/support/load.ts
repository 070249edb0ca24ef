// Sends concurrent calls to a running hub over keep-alive connections, and records the answered ones by marker.

import { Agent } from "node:http";
import { answerOf, modern } from "./rpc.ts";

export class Load {
  /** Markers of the calls whose answers arrived completely. */
  readonly answered: string[] = [];
  readonly #url: string;
  readonly #agent: Agent;
  readonly #prefix: string;
  readonly #lanes: Promise<unknown>[];
  #waiting: { readonly count: number; readonly resolve: () => void } | undefined;
  #next = 0;
  #stopped = false;

  /** Calls the tool echo of the only server at this address with the given concurrency, each call with a unique marker. */
  constructor(url: string, { inFlight, prefix }: { inFlight: number; prefix: string }) {
    this.#url = url;
    this.#prefix = prefix;
    this.#agent = new Agent({ keepAlive: true, maxSockets: inFlight });
    this.#lanes = Array.from({ length: inFlight }, () => this.#lane());
    // The methods below report the failure.
    for (const lane of this.#lanes) lane.catch(() => undefined);
  }

  /** Resolves when the given number of calls are answered; rejects if a call fails before. */
  async untilAnswered(count: number): Promise<void> {
    if (this.answered.length >= count) return;
    const reached = new Promise<void>((resolve) => {
      this.#waiting = { count, resolve };
    });
    await Promise.race([reached, ...this.#lanes]);
  }

  /** Sends no new calls, and resolves when the open ones are answered. Rejects if one failed. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await Promise.all(this.#lanes);
    this.#agent.destroy();
  }

  /** For a killed hub: resolves when every call is answered or has failed. */
  async broken(): Promise<void> {
    await Promise.allSettled(this.#lanes);
    this.#agent.destroy();
  }

  async #lane(): Promise<void> {
    while (!this.#stopped) {
      const marker = `${this.#prefix}${this.#next++}`;
      const params = {
        name: "echo",
        arguments: { text: marker },
        _meta: { "io.plugboard/workflow_id": marker },
      };
      const { body } = await modern(this.#url, "tools/call", params, {}, this.#agent);
      const text: unknown = answerOf(body).result?.content?.[0]?.text;
      if (text !== marker) throw new Error(`The answer to ${marker} is ${body}`);
      this.answered.push(marker);
      if (this.#waiting !== undefined && this.answered.length >= this.#waiting.count) this.#waiting.resolve();
    }
  }
}
