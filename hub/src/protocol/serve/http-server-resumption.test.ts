// Streams that a client resumes with Last-Event-ID.

import { once } from "node:events";
import { setImmediate as turn } from "node:timers/promises";
import { describe, expect, it, vi } from "vitest";
import { raw, RPC, success, type Reply } from "../rpc/jsonrpc.ts";
import type { IncomingRequest } from "./service.ts";
import { type Headers, rpc, outcome, reader, messagesOf, useHttpServer } from "../../../../test/support/http-server.ts";

const { service, responses, post, get, openSession } = useHttpServer();

describe("resumption", () => {
  const idsOf = (text: string) => [...text.matchAll(/^id: (.+)$/gm)].map(([, id]) => id ?? "");

  /** A request whose reply the test sends. */
  function hold() {
    let finish: (reply: Reply) => void = () => undefined;
    const incoming = new Promise<IncomingRequest>((resolve) => {
      service.methods["hold"] = (given) => {
        resolve(given);
        return new Promise((settle) => (finish = settle));
      };
    });
    return { incoming, finish: (reply: Reply) => finish(reply) };
  }

  /** Sends a request and disconnects after the first event. Returns what came until then. */
  async function lose(session: Headers, incoming: Promise<IncomingRequest>): Promise<string> {
    const leaver = new AbortController();
    const response = post(rpc("r", "hold"), session, leaver.signal);
    (await incoming).notify("notifications/progress", raw({ progressToken: 1, progress: 1 }));
    const text = await reader(await response).until('"progress":1}}\nid: 1-1\n\n');
    const closing = once(responses.at(-1) ?? service.news, "close");
    leaver.abort();
    await closing;
    return text;
  }

  it("CL-7 a lost reply is replayed after the last event id, without earlier events", async () => {
    const session = await openSession("2025-11-25");
    const held = hold();
    const text = await lose(session, held.incoming);
    const [primed, first] = idsOf(text);
    expect(text).toContain("retry: ");
    const incoming = await held.incoming;
    incoming.notify("notifications/progress", raw({ progressToken: 1, progress: 2 }));
    expect(incoming.signal.aborted).toBe(false);
    held.finish(success("done"));
    await turn();
    const again = await get({ ...session, "last-event-id": first ?? "" });
    const rest = await again.text();
    expect(messagesOf(rest)).toMatchObject([{ params: { progress: 2 } }, { id: "r", result: "done" }]);
    const whole = await (await get({ ...session, "last-event-id": primed ?? "" })).text();
    expect(messagesOf(whole)).toHaveLength(3);
    const last = idsOf(rest).at(-1) ?? "";
    expect((await get({ ...session, "last-event-id": last })).status).toBe(204);
  });

  it("CL-7 GR-7 a client that resumes before the reply gets it live, and the requests sent meanwhile", async () => {
    const session = await openSession("2025-06-18");
    const held = hold();
    const text = await lose(session, held.incoming);
    expect(text).not.toContain("retry: ");
    const asked = (await held.incoming).ask?.("roots/list", undefined);
    const stream = reader(await get({ ...session, "last-event-id": idsOf(text).at(-1) ?? "" }));
    await stream.until("roots/list");
    await post({ jsonrpc: "2.0", id: 1, result: { roots: [] } }, session);
    expect(await asked).toMatchObject({ ok: true });
    held.finish(success("done"));
    expect(messagesOf(await stream.rest())).toMatchObject([{ method: "roots/list" }, { id: "r", result: "done" }]);
  });

  it("CL-7 each stream is replayed alone; the session's own continues with new messages", async () => {
    const session = await openSession("2025-06-18");
    const [own] = service.sessions;
    const gone = new AbortController();
    const first = reader(await get(session, gone.signal));
    own?.notify("notifications/a");
    const text = await first.until("\n\n");
    const closing = once(responses.at(-1) ?? service.news, "close");
    gone.abort();
    await closing;
    own?.notify("notifications/b");
    await (await post(rpc(1, "talk"), session)).text();
    const second = reader(await get({ ...session, "last-event-id": idsOf(text).at(-1) ?? "" }));
    own?.notify("notifications/c");
    expect(messagesOf(await second.until("notifications/c")).map(({ method }) => method)).toEqual([
      "notifications/b",
      "notifications/c",
    ]);
  });

  it("CL-7 a resumed stream is taken from the connection that still has it", async () => {
    const session = await openSession("2025-06-18");
    const [own] = service.sessions;
    const first = reader(await get(session));
    own?.notify("notifications/a");
    const [id = ""] = idsOf(await first.until("\n\n"));
    const second = reader(await get({ ...session, "last-event-id": id }));
    own?.notify("notifications/b");
    await second.until("notifications/b");
    expect(messagesOf(await first.rest())).toHaveLength(1);
  });

  it.each(["9-1", "1", "x", "0-1-2", "-1-1", "99999999999999999-1"])(
    "SE-5 event %s belongs to no stream",
    async (id) => {
      const answer = await outcome(get({ ...(await openSession()), "last-event-id": id }));
      expect(answer).toMatchObject({ status: 400, code: RPC.invalidRequest });
    },
  );

  it("CL-7 another session's events cannot be resumed", async () => {
    const [one, other] = [await openSession(), await openSession()];
    const [id = ""] = idsOf(await (await post(rpc(1, "talk"), one)).text());
    expect((await get({ ...other, "last-event-id": id })).status).toBe(400);
  });

  it("CL-7 a slow response becomes a stream, with an event id from the start", async () => {
    const session = await openSession("2025-11-25");
    const held = hold();
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    try {
      const response = post(rpc("r", "hold"), session);
      await held.incoming;
      vi.advanceTimersByTime(5000);
      const stream = reader(await response);
      expect(idsOf(await stream.until("\n\n"))).toEqual(["1-0"]);
      held.finish(success("done"));
      expect(messagesOf(await stream.rest())).toEqual([{ jsonrpc: "2.0", id: "r", result: "done" }]);
    } finally {
      vi.useRealTimers();
    }
  });
});
