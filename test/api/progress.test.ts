// Requests that start a server, followed as an event stream.

import { once } from "node:events";
import { request } from "node:http";
import { expect, it } from "vitest";
import { sseEvents } from "@plugboard/shared/streams/sse";
import type { ManagedHub } from "../support/api.ts";
import { failing, fixture } from "../support/hub.ts";
import { untilNoneWithMark } from "../support/processes.ts";
import { OWN_SECRET, useOwnHub } from "./own-hub.ts";

const open = useOwnHub();

interface Sent {
  readonly event: string;
  // eslint-disable-next-line typescript/no-explicit-any -- tests look into events of any form
  readonly data: any;
}

/** Sends a request, and reads its events until the hub ends the stream or `until` matches: then it disconnects. */
async function follow(
  { url, token, seen }: ManagedHub,
  path: string,
  { body, until }: { readonly body?: unknown; readonly until?: (sent: Sent) => boolean } = {},
): Promise<{ readonly status: number | undefined; readonly type: string | undefined; readonly events: Sent[] }> {
  const outgoing = request(`${url}/api/v1${path}`, {
    method: "POST",
    agent: false,
    headers: {
      authorization: `Bearer ${token}`,
      accept: "text/event-stream",
      ...(body === undefined ? {} : { "content-type": "application/json" }),
    },
  });
  outgoing.on("error", () => undefined); // we disconnect
  outgoing.end(body === undefined ? undefined : JSON.stringify(body));
  const [answer] = await once(outgoing, "response");
  const events: Sent[] = [];
  if (answer.headers["content-type"] === "text/event-stream") {
    for await (const batch of sseEvents(answer, { maxBytes: 1 << 20 })) {
      for (const { event, data } of batch) {
        events.push({ event, data: JSON.parse(data.toString()) });
        seen.push(data.toString());
      }
      if (until !== undefined && events.some(until)) break;
    }
  }
  outgoing.destroy();
  return { status: answer.statusCode, type: answer.headers["content-type"], events };
}

const stagesOf = (events: readonly Sent[]) =>
  events.filter(({ event }) => event === "stage").map(({ data }) => data.stage);

it("a test of an entry streams its stages and ends with the result", async () => {
  const own = await open({});
  const { status, type, events } = await follow(own, "/servers/test", { body: fixture("echo") });
  expect([status, type]).toEqual([200, "text/event-stream"]);
  expect(stagesOf(events)).toEqual(["resolving", "launching", "handshake", "listing"]);
  expect(events.every(({ event, data }) => event !== "stage" || data.elapsed_ms >= 0)).toBe(true);
  const { json } = await own.ask("/servers/test", { method: "POST", body: fixture("echo") });
  expect(events.at(-1)).toEqual({ event: "result", data: { ...json, latency_ms: expect.any(Number) } });
});

it("a failed test has the lines of stderr, without secrets, and a result", async () => {
  const own = await open({});
  const body = { ...failing("API_KEY"), env: { API_KEY: OWN_SECRET } };
  const { events } = await follow(own, "/servers/test", { body });
  expect(events.filter(({ event }) => event === "log")).not.toEqual([]);
  expect(events.at(-1)).toMatchObject({ event: "result", data: { success: false } });
});

it("a client that disconnects cancels its test, and the process ends", async () => {
  const own = await open({});
  const { events } = await follow(own, "/servers/test", {
    body: { ...fixture("slow-start", "60000"), env: { TEST_MARK: own.home.mark.replace("TEST_MARK=", "") } },
    until: ({ data }) => data.stage === "handshake",
  });
  expect(events.at(-1)).toMatchObject({ event: "stage" });
  await untilNoneWithMark(own.home.mark);
});

it("a start streams its stages; a start that fails ends with a problem", async () => {
  const own = await open({ echo: fixture("echo"), broken: failing() });
  const started = await follow(own, "/servers/echo/start");
  expect(stagesOf(started.events)).toContain("handshake");
  expect(started.events.at(-1)).toMatchObject({
    event: "result",
    data: { status: "running", pid: expect.any(Number) },
  });
  const restarted = await follow(own, "/servers/echo/restart");
  expect(restarted.events.at(-1)).toMatchObject({ event: "result", data: { status: "running" } });
  const failed = await follow(own, "/servers/broken/start");
  expect(failed.events.at(-1)).toMatchObject({ event: "problem", data: { status: 503, kind: "ProcessSpawnFailed" } });
});

it("a client that disconnects cancels its start", async () => {
  const own = await open({ slow: fixture("slow-start", "60000") });
  const stopped = new Promise<string>((resolve) =>
    own.hub.events.on("server.status", ({ status }) => status.state === "stopped" && resolve(status.state)),
  );
  await follow(own, "/servers/slow/start", { until: ({ data }) => data.stage === "handshake" });
  expect(await stopped).toBe("stopped");
});

it("what is refused before a start is an ordinary problem", async () => {
  const own = await open({});
  const unknown = await follow(own, "/servers/none/start");
  expect([unknown.status, unknown.type]).toEqual([404, "application/problem+json"]);
  const invalid = await follow(own, "/servers/test", { body: {} });
  expect([invalid.status, invalid.type]).toEqual([400, "application/problem+json"]);
});
