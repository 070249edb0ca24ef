// A client cancels a call while the server's question is open. The next call that asks, of the same client or another one, must
// be asked: a server may go on with the cancelled call, so its questions could be taken for those of the next.

import { beforeAll, describe, expect, it } from "vitest";
import { connectAsked, type AskedClient, type ClientEra } from "../support/asked-clients.ts";
import { tokenOf } from "../support/browser-session.ts";
import { makeHome, published, startHub, type RunningHub } from "../support/hub.ts";

const ASKS = "trigger-elicitation-request";

/** Answers no question until it is told to. */
class Person {
  #leave: ((reason: Error) => void) | undefined;
  readonly answer = () =>
    this.isReady
      ? { action: "accept", content: { name: "Ann" } }
      : new Promise((_, reject) => {
          this.#leave = reject;
        });
  isReady = false;

  /** A modern client ends its call when its answer fails. */
  leave(): void {
    this.#leave?.(new Error("the person left"));
  }
}

describe.each(["/mcp", "/api/v1/servers/everything/mcp"])("at %s", (path) => {
  let hub: RunningHub;
  let token: string;

  beforeAll(async () => {
    hub = await startHub(await makeHome({ everything: published("server-everything") }));
    token = await tokenOf(hub);
    return async () => {
      await hub.stop();
      await hub.home.remove();
    };
  });

  const connect = (era: ClientEra, person: Person): Promise<AskedClient> => {
    const where = { url: `${hub.url}${path}`, ...(path.startsWith("/api") ? { token } : {}) };
    return connectAsked(era, where, { elicit: person.answer });
  };

  async function cancelWhileAsked(client: AskedClient, person: Person): Promise<void> {
    const abort = new AbortController();
    const call = client.call(ASKS, {}, { signal: abort.signal });
    await client.asked.find(({ method }) => method === "elicitation/create");
    abort.abort();
    person.leave();
    await expect(call).rejects.toThrow();
  }

  describe.each<ClientEra>(["legacy", "modern"])("a %s client", (era) => {
    it("GR-7 that cancels is asked again in its next call", async () => {
      const person = new Person();
      const client = await connect(era, person);
      await cancelWhileAsked(client, person);
      person.isReady = true;
      expect((await client.call(ASKS)).text).toContain("Ann");
      await client.close();
    });

    it("GR-7 that cancels and leaves does not keep the next one from being asked", async () => {
      const [first, second] = [new Person(), new Person()];
      const left = await connect(era, first);
      await cancelWhileAsked(left, first);
      await left.close();
      second.isReady = true;
      const next = await connect(era, second);
      expect((await next.call(ASKS)).text).toContain("Ann");
      await next.close();
    });
  });
});
