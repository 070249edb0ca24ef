// Many calls at once against a running hub, over connections that are kept: what was answered, by its marker.

import { Agent } from "node:http";
import { answerOf, modern } from "./rpc.ts";

export class Load {
  /** Markers of the calls whose answers arrived whole. */
  readonly answered: string[] = [];
  readonly #url: string;
  readonly #agent: Agent;
  readonly #prefix: string;
  readonly #lanes: Promise<unknown>[];
  #waiting: { readonly count: number; readonly resolve: () => void } | undefined;
  #next = 0;
  #stopped = false;

  /** Calls the tool echo of the only server at this address, so many at a time, each with a marker of its own. */
  constructor(url: string, { inFlight, prefix }: { inFlight: number; prefix: string }) {
    this.#url = url;
    this.#prefix = prefix;
    this.#agent = new Agent({ keepAlive: true, maxSockets: inFlight });
    this.#lanes = Array.from({ length: inFlight }, () => this.#lane());
    // Whoever waits for them hears of it.
    for (const lane of this.#lanes) lane.catch(() => undefined);
  }

  /** Resolves when so many calls are answered; rejects where a call fails before. */
  async untilAnswered(count: number): Promise<void> {
    if (this.answered.length >= count) return;
    const reached = new Promise<void>((resolve) => {
      this.#waiting = { count, resolve };
    });
    await Promise.race([reached, ...this.#lanes]);
  }

  /** No new calls; resolves when those on their way are answered. Rejects where one failed. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await Promise.all(this.#lanes);
    this.#agent.destroy();
  }

  /** The hub is gone: resolves when every call has its answer or knows that none will come. */
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
