// A modern client of a legacy server that asks for input: the call is suspended in the hub until the client sends the input. Which
// states are accepted, and how the call ends without input.

import { once } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { WebSocket } from "ws";
import { Endpoint } from "../../hub/src/mcp/endpoint.ts";
import { rawParams } from "../../hub/src/protocol/rpc/jsonrpc.ts";
import type { IncomingRequest } from "../../hub/src/protocol/serve/service.ts";
import { ABLE, connectAsked, type AskedClient } from "../support/asked-clients.ts";
import { fixture, makeHome, startHub } from "../support/hub.ts";
import { openInProcess, untilState, type InProcess } from "../support/in-process.ts";
import { untilNoneWithMark } from "../support/processes.ts";
import { startRemote, type Remote } from "../support/remote.ts";
import { answerOf, modern } from "../support/rpc.ts";
import { Messages, openStream } from "../support/streams.ts";

/** The timeout of the server called hasty. */
const LIMIT_MS = 2000;

let remote: Remote;
let running: InProcess;
let url: string;

beforeAll(async () => {
  remote = await startRemote("asks-legacy", ["--http"]);
  running = await openInProcess({
    far: remote.entry,
    near: fixture("asks-legacy"),
    piped: fixture("asks-legacy"),
    hasty: { ...remote.entry, timeouts: { request_ms: LIMIT_MS } },
  });
  url = `${await running.hub.listen({ host: "127.0.0.1", port: 0 })}/mcp`;
  await running.hub.start();
});

afterAll(async () => {
  expect(await running?.end()).toEqual([]);
  await remote?.stop();
});

const clients: AskedClient[] = [];
afterEach(async () => {
  await Promise.all(clients.splice(0).map((client) => client.close()));
});

const META = { "io.modelcontextprotocol/clientCapabilities": ABLE };
type Params = Readonly<Record<string, unknown>>;

/** One raw request. */
async function send(method: string, params: Params, headers: Record<string, string> = {}) {
  const { status, body } = await modern(
    url,
    method,
    { ...params, _meta: { ...META, ...(params["_meta"] as object) } },
    headers,
  );
  return { status, ...answerOf(body) };
}

const call = (tool: string, args: Params, more: Params = {}, headers: Record<string, string> = {}) =>
  send("tools/call", { name: tool, arguments: args, ...more }, headers);

/** Calls a tool that asks for a form. Returns what is needed to resume. */
async function park(tool: string, marker: string, headers: Record<string, string> = {}) {
  const { result } = await call(tool, { marker }, { _meta: { progressToken: "first" } }, headers);
  expect(result).toMatchObject({ resultType: "input_required", requestState: expect.any(String) });
  const [key = ""] = Object.keys(result.inputRequests);
  const inputResponses = { [key]: { action: "accept", content: { said: marker } } };
  return { requestState: String(result.requestState), inputResponses, key };
}

/** The request that resumes a state, read as a stream. */
function resumption(name: string, args: Params, more: Params) {
  const _meta = { ...META, "io.modelcontextprotocol/protocolVersion": "2026-07-28", progressToken: 2 };
  return {
    method: "POST",
    headers: { "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": name },
    body: { jsonrpc: "2.0", id: 2, method: "tools/call", params: { name, arguments: args, ...more, _meta } },
  };
}

const REFUSED = { status: 200, error: { code: -32602, data: { field: "requestState" } } };
const recorded = async (server: string, tool: string, marker: string) => {
  const { items } = await running.hub.callLog.query({ server, tool, limit: 1000 });
  return items.filter(({ params }) => JSON.stringify(params).includes(`"${marker}"`));
};

/** A cancelled call is recorded after its server was notified. */
const untilRecorded = async (...which: Parameters<typeof recorded>) => {
  for (;;) {
    const rows = await recorded(...which);
    if (rows.length > 0) return rows;
  }
};

describe.each(["far", "near"])("a suspended call of %s", (server) => {
  const form = `${server}__form`;

  it("GR-7 resumes with the client's answer, and is one call in the log", async () => {
    const { requestState, inputResponses } = await park(form, "one");
    expect(await recorded(server, "form", "one")).toEqual([]);
    const { result } = await call(form, { marker: "one" }, { requestState, inputResponses });
    expect(result).toMatchObject({ resultType: "complete" });
    expect(JSON.parse(result.content[0].text)).toEqual({ action: "accept", content: { said: "one" } });
    expect(await recorded(server, "form", "one")).toMatchObject([{ success: true, client: "test" }]);
  });

  it("GR-7 asks again for missing answers, and ignores others", async () => {
    const { requestState, inputResponses, key } = await park(form, "again");
    const more = await call(form, { marker: "again" }, { requestState, inputResponses: { other: { roots: [] } } });
    expect(Object.keys(more.result.inputRequests)).toEqual([key]);
    const last = await call(form, { marker: "again" }, { requestState: more.result.requestState, inputResponses });
    expect(last.result).toMatchObject({ resultType: "complete" });
  });

  it("GR-7 SE-5 A32 refuses a changed, repeated or stolen state, and another request", async () => {
    const { requestState, inputResponses } = await park(form, "mine");
    const tries: [why: string, args: Params, state: unknown, headers?: Record<string, string>][] = [
      ["other arguments", { marker: "yours" }, requestState],
      ["another client", { marker: "mine" }, requestState, { authorization: "Bearer other" }],
      ["cut", { marker: "mine" }, requestState.slice(0, -1)],
      ["made up", { marker: "mine" }, "plugboard.AAAA"],
      ["of another kind", { marker: "mine" }, "v1.state"],
      ["no text", { marker: "mine" }, 7],
      ["longer", { marker: "mine" }, `${requestState}A`],
      ...[11, 20, 40, 80].map((at): [string, Params, string] => [
        `changed at ${at}`,
        { marker: "mine" },
        `${requestState.slice(0, at)}${requestState[at] === "A" ? "B" : "A"}${requestState.slice(at + 1)}`,
      ]),
    ];
    for (const [why, args, state, headers] of tries) {
      const answer = await call(form, args, { requestState: state, inputResponses }, headers);
      expect([why, answer]).toMatchObject([why, REFUSED]);
    }
    expect(await call("near__rounds", { marker: "mine" }, { requestState, inputResponses })).toMatchObject(REFUSED);
    // None of this ended the call; using its state does.
    expect((await call(form, { marker: "mine" }, { requestState, inputResponses })).result).toMatchObject({
      resultType: "complete",
    });
    expect(await call(form, { marker: "mine" }, { requestState, inputResponses })).toMatchObject({
      error: { code: -32602, message: expect.stringContaining("used already") },
    });
  });

  it("GR-7 A32 requires the same credential, and answers that are objects", async () => {
    const headers = { authorization: "Bearer me" };
    const { requestState, inputResponses, key } = await park(form, "auth", headers);
    expect(await call(form, { marker: "auth" }, { requestState, inputResponses })).toMatchObject(REFUSED);
    for (const wrong of [{ [key]: "yes" }, [], "yes"]) {
      const answer = await call(form, { marker: "auth" }, { requestState, inputResponses: wrong }, headers);
      expect(answer).toMatchObject({ error: { code: -32602, data: { field: "inputResponses" } } });
    }
    const { result } = await call(form, { marker: "auth" }, { requestState, inputResponses }, headers);
    expect(result).toMatchObject({ resultType: "complete" });
  });
});

describe("while a call is suspended", () => {
  it("GR-7 RS-2 it may last longer than the server's timeout, without counting against the server", async () => {
    const { requestState, inputResponses } = await park("hasty__form", "slow");
    await delay(LIMIT_MS + 200);
    const { result } = await call("hasty__form", { marker: "slow" }, { requestState, inputResponses });
    expect(result).toMatchObject({ resultType: "complete" });
    expect(running.hub.supervisor.get("hasty").circuit.breaker.state).toBe("closed");
  });

  it("GR-7 a server that cancels its request and replies settles the call", async () => {
    let state: Params = {};
    for (;;) {
      const { result } = await call("far__change_of_mind", { marker: "m" }, state);
      if (result.resultType === "input_required") state = { requestState: result.requestState };
      else return expect(result).toMatchObject({ resultType: "complete", content: [{ text: "never mind" }] });
    }
  });

  it("GR-7 progress reaches the open request, with its own token", async () => {
    const { result } = await call("far__progress", { marker: "p" }, { _meta: { progressToken: "first" } });
    const [key = ""] = Object.keys(result.inputRequests);
    const inputResponses = { [key]: { action: "decline" } };
    const stream = await openStream(
      url,
      resumption("far__progress", { marker: "p" }, { requestState: result.requestState, inputResponses }),
    );
    await stream.messages.find(({ id }) => id === 2);
    expect(stream.messages.all[0]).toMatchObject({ method: "notifications/progress", params: { progressToken: 2 } });
  });

  it("GR-7 CL-3 a client that disconnects while the server works cancels the call", async () => {
    const { requestState, inputResponses } = await park("far__works_on", "left");
    const stream = await openStream(
      url,
      resumption("far__works_on", { marker: "left" }, { requestState, inputResponses }),
    );
    await stream.messages.find(({ method }) => method === "notifications/progress");
    expect(await recorded("far", "works_on", "left")).toEqual([]);
    stream.close();
    const { result } = await call("far__cancelled", { marker: "left" });
    expect(result).toMatchObject({ content: [{ text: "cancelled" }] });
    expect(await untilRecorded("far", "works_on", "left")).toMatchObject([
      { success: false, outcome: "cancelled", error_code: "CANCELLED" },
    ]);
  });

  it("GR-7 a required URL is input_required; after the visit the call is repeated", async () => {
    const client = await connectAsked("modern", { url });
    clients.push(client);
    for (const server of ["far", "near"]) {
      expect((await client.call(`${server}__url_error`, { marker: `u ${server}` })).text).toBe("welcome back");
    }
    expect(client.asked.all[0]).toMatchObject({
      params: { mode: "url", url: "https://example.com/u%20far" },
    });
    expect(client.asked.all[0].params).not.toHaveProperty("elicitationId");
    const declining = await connectAsked("modern", { url }, { elicit: () => ({ action: "decline" }) });
    clients.push(declining);
    expect(await declining.call("far__url_error", { marker: "never" })).toMatchObject({
      isError: true,
      text: expect.stringContaining("decline"),
    });
  });
});

it("GR-7 on stdio, one call of a client may be suspended while another asks, on one server connection", async () => {
  const socket = new WebSocket(url.replace("http", "ws"), ["mcp"]);
  onTestFinished(() => socket.terminate());
  const messages = new Messages();
  socket.on("message", (data: Buffer) => messages.push(JSON.parse(data.toString())));
  await once(socket, "open");
  const ask = async (id: string, marker: string, more: Params = {}) => {
    const _meta = { ...META, "io.modelcontextprotocol/protocolVersion": "2026-07-28" };
    const params = { name: "piped__form", arguments: { marker }, ...more, _meta };
    socket.send(JSON.stringify({ jsonrpc: "2.0", id, method: "tools/call", params }));
    return (await messages.find((message) => message.id === id)).result;
  };
  const questions = [await ask("1", "first"), await ask("2", "second")];
  for (const [index, marker] of ["first", "second"].entries()) {
    const { inputRequests, requestState } = questions[index];
    const [[key, question] = ["", undefined]] = Object.entries<{ params: { message: string } }>(inputRequests);
    expect(question?.params.message).toContain(marker);
    const inputResponses = { [key]: { action: "accept", content: { said: marker } } };
    const answer = await ask(`${marker} again`, marker, { requestState, inputResponses });
    expect(answer.content[0].text).toContain(`"said":"${marker}"`);
  }
});

describe("a suspended call without input", () => {
  /** An endpoint with a shorter input timeout than the hub's own. */
  function endpointWithTimeout(timeoutMs: number) {
    const { catalog, calls, supervisor } = running.hub;
    const endpoint = new Endpoint({
      group: () => catalog.group(undefined),
      calls,
      supervisor,
      inputTimeoutMs: timeoutMs,
    });
    const ask = async (name: string, marker: string, more: Params = {}) => {
      const exchange: IncomingRequest = {
        request: {
          kind: "request",
          id: 1,
          method: "tools/call",
          params: rawParams({ name, arguments: { marker }, ...more }),
        },
        era: "modern",
        transport: "http",
        session: undefined,
        capabilities: ABLE,
        logLevel: undefined,
        headers: {},
        signal: new AbortController().signal,
        notify: () => undefined,
      };
      const reply = await endpoint.handle(exchange);
      return (reply.ok ? reply.result.value : reply.error.value) as Record<string, unknown>;
    };
    return { endpoint, ask };
  }

  it("GR-7 RS-2 is cancelled at the server at its timeout, and its state becomes invalid", async () => {
    const { endpoint, ask } = endpointWithTimeout(100);
    const { requestState } = await ask("far__form", "forgotten");
    const { text } = await callText("far__cancelled", "forgotten");
    expect(text).toBe("cancelled");
    expect(await ask("far__form", "forgotten", { requestState })).toMatchObject({ code: -32602 });
    expect(await untilRecorded("far", "form", "forgotten")).toMatchObject([
      { success: false, outcome: "cancelled", error_code: "CANCELLED" },
    ]);
    expect(running.hub.supervisor.get("far").circuit.breaker.state).toBe("closed");
    endpoint.close();
  });

  it("GR-7 is cancelled when the endpoint closes", async () => {
    const { endpoint, ask } = endpointWithTimeout(60_000);
    await ask("far__form", "closed");
    endpoint.close();
    expect((await callText("far__cancelled", "closed")).text).toBe("cancelled");
  });

  const callText = async (tool: string, marker: string) => {
    const { result } = await call(tool, { marker });
    return { text: result.content[0].text };
  };

  it("RS-1 is not retried when its server dies; the client gets the error when it resumes", async () => {
    const { hub } = running;
    const { requestState, inputResponses } = await park("near__form", "crashed");
    // A prompt could be retried, but the user would be asked twice.
    const prompt = await send("prompts/get", { name: "far__asked" });
    expect(prompt.result).toMatchObject({ resultType: "input_required" });
    const { pid } = hub.supervisor.get("near");
    process.kill(pid ?? 0, "SIGKILL");
    await untilState(hub, "near", "error", "disconnected");
    const { result } = await call("near__form", { marker: "crashed" }, { requestState, inputResponses });
    expect(result).toMatchObject({ isError: true, content: [{ text: expect.stringContaining("outcome is unknown") }] });
    expect([...hub.calls.retriesOf("near")]).toEqual([]);
    await remote.stop();
    const { requestState: state } = prompt.result;
    expect(await send("prompts/get", { name: "far__asked", requestState: state })).toMatchObject({
      error: { code: -31502 },
    });
    expect([...hub.calls.retriesOf("far")]).toEqual([]);
    expect(await recorded("near", "form", "crashed")).toHaveLength(1);
    await untilState(hub, "near", "running");
  });

  it("LC-5 does not delay the hub's stop, and leaves nothing behind", async () => {
    const home = await makeHome({ near: fixture("asks-legacy") });
    const hub = await startHub(home, { args: ["--drain", "10m"] });
    onTestFinished(() => hub.kill());
    const { body } = await modern(`${hub.url}/mcp`, "tools/call", {
      name: "near:form",
      arguments: { marker: "m" },
      _meta: META,
    });
    expect(answerOf(body).result).toMatchObject({ resultType: "input_required" });
    expect(await hub.stop()).toBe(0);
    await untilNoneWithMark(home.mark);
    await home.remove();
  });
});
