// Requests of servers to clients: sampling, elicitation by form and by URL, roots. Clients and servers of both eras on the official
// SDKs, through the built hub.

import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import {
  ABLE,
  connectAsked,
  type AskedClient,
  type AskedOptions,
  type ClientEra,
  type Reply,
} from "../support/asked-clients.ts";
import { fixture, makeHome, plugboard, startHub, type Home, type RunningHub } from "../support/hub.ts";
import { startRemote, type Remote } from "../support/remote.ts";
import { connect as rpcConnect, http } from "../support/rpc.ts";
import { Messages, openStream } from "../support/streams.ts";

const CLIENTS: readonly ClientEra[] = ["legacy", "modern"];
const SERVERS = ["legacy_stdio", "legacy_http", "modern_stdio", "modern_http"] as const;
const CELLS = CLIENTS.flatMap((client) => SERVERS.map((server) => [client, server] as const));

const remotes: Remote[] = [];
let home: Home;
let hub: RunningHub;

beforeAll(async () => {
  remotes.push(await startRemote("asks-legacy", ["--http"]), await startRemote("asks-modern", ["--http"]));
  home = await makeHome({
    legacy_stdio: fixture("asks-legacy"),
    // Fresh servers: nothing is known about them yet.
    unknown_legacy: fixture("asks-legacy", "1"),
    unknown_modern: fixture("asks-legacy", "2"),
    unknown_mixed: fixture("asks-legacy", "3"),
    shared_stdio: { ...fixture("asks-legacy", "4"), isolation: "shared" },
    // Separate servers for cancellation: on stdio a cancelled call's late request could be taken for the next call's.
    cancel_stdio: { ...fixture("asks-legacy", "5"), isolation: "shared" },
    end_stdio: { ...fixture("asks-legacy", "6"), isolation: "shared" },
    legacy_http: remotes[0]?.entry ?? {},
    modern_stdio: fixture("asks-modern"),
    modern_http: remotes[1]?.entry ?? {},
  });
  hub = await startHub(home);
});

afterAll(async () => {
  await hub?.stop();
  await Promise.all(remotes.map((remote) => remote.stop()));
  await home?.remove();
});

const open: AskedClient[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((client) => client.close()));
});

/** A client for one test. */
async function connect(era: ClientEra, options?: AskedOptions): Promise<AskedClient> {
  const client = await connectAsked(era, { url: `${hub.url}/mcp` }, options);
  open.push(client);
  return client;
}

describe.each(CELLS)("a %s client of %s", (era, server) => {
  let client: AskedClient;
  const call = (tool: string, args = {}) => client.call(`${server}__${tool}`, args);
  const value = async (tool: string, args = {}) => JSON.parse((await call(tool, args)).text);
  /** The methods of requests to the client since the last call. */
  const asked = () => client.asked.all.splice(0).map(({ method, params }) => ({ method, params }));

  beforeAll(async () => {
    client = await connectAsked(era, { url: `${hub.url}/mcp` });
  });

  afterAll(() => client?.close());

  it("GR-7 a form reaches the client, and its answer the server", async () => {
    expect(await value("form", { marker: "m1" })).toEqual({ action: "accept", content: { said: "you asked: m1" } });
    // The text names the server for users, `_meta` for programs.
    expect(asked()).toMatchObject([
      {
        method: "elicitation/create",
        params: {
          message: "m1",
          asker: server,
          _meta: { "io.plugboard/server": server },
          requestedSchema: { properties: { said: { type: "string" } } },
        },
      },
    ]);
  });

  it("GR-7 a URL elicitation works too", async () => {
    expect(await value("url", { marker: "m2" })).toMatchObject({ action: "accept" });
    expect(asked()).toMatchObject([
      { method: "elicitation/create", params: { mode: "url", message: "m2", url: "https://example.com/m2" } },
    ]);
  });

  it("GR-7 sampling, with tools too", async () => {
    for (const tool of ["sampling", "sampling_tools"]) {
      expect(await value(tool, { marker: "m3" })).toMatchObject({ content: { type: "text", text: "sampled" } });
      expect(asked()).toMatchObject([{ method: "sampling/createMessage", params: { maxTokens: 10 } }]);
    }
  });

  it("GR-7 roots", async () => {
    expect(await value("roots")).toEqual({ roots: [{ uri: "file:///home", name: "home" }] });
    expect(asked()).toMatchObject([{ method: "roots/list" }]);
  });

  it("GR-7 several requests at once, and one after another", async () => {
    expect(await value("several", { marker: "m4" })).toMatchObject([
      { content: { said: "you asked: m4" } },
      { roots: [{ uri: "file:///home" }] },
      { content: { text: "sampled" } },
    ]);
    const methods = asked().map(({ method }) => method);
    expect(methods).toHaveLength(3);
    expect(new Set(methods)).toEqual(new Set(["elicitation/create", "roots/list", "sampling/createMessage"]));
    expect(await value("rounds", { marker: "m5", rounds: 4 })).toMatchObject(
      [1, 2, 3, 4].map((round) => ({ content: { said: `you asked: m5 ${round}` } })),
    );
    asked();
  });

  it("GR-7 during prompts/get and resources/read", async () => {
    expect(await client.getPrompt(`${server}__asked`)).toContain("you asked: the prompt");
    const { uri } = await resourceOf(server);
    expect(await client.readResource(uri)).toContain("you asked: the resource");
    asked();
  });

  it("GR-7 a call without server requests asks nothing", async () => {
    expect((await call("plain")).text).toBe("plain");
    expect(asked()).toEqual([]);
  });
});

/** All servers have the same resource: the first keeps its URI, the others are exposed with a prefix. */
async function resourceOf(server: string): Promise<{ uri: string }> {
  const { result } = await (await rpcConnect(`${hub.url}/mcp`)).request("resources/list");
  const found = result.resources.filter(({ uri }: { uri: string }) =>
    server === "legacy_stdio" ? uri === "asked://it" : uri.includes(server),
  );
  expect([server, found.length]).toEqual([server, 1]);
  return found[0];
}

const fail: Reply = () => {
  throw new Error("nobody is asked here");
};

/** A reply that the test sends. */
function held() {
  const shown = new Messages();
  const release = new AbortController();
  const elicit: Reply = (params, signal) => {
    shown.push({ message: params["message"], signal });
    return new Promise((resolve) => {
      const done = () => resolve({ action: "accept", content: { said: `you asked: ${String(params["message"])}` } });
      if (release.signal.aborted) done();
      else release.signal.addEventListener("abort", done);
    });
  };
  return { shown, elicit, release: () => release.abort() };
}

describe("the owner of a server request", () => {
  const SHARED = CELLS.filter(([, server]) => server !== "legacy_stdio");

  it.each(SHARED)(
    "GR-7 %s clients that call %s at once each get their own request, and no other",
    async (era, server) => {
      const people = await Promise.all(
        Array.from({ length: 4 }, async () => {
          const hold = held();
          return { ...hold, client: await connect(era, { elicit: hold.elicit }) };
        }),
      );
      const calls = people.map(({ client }, index) => client.call(`${server}__form`, { marker: `person ${index}` }));
      // All of them get their request before the first one replies.
      await Promise.all(people.map(({ shown }) => shown.more(0)));
      for (const { release } of people.toReversed()) release();
      for (const [index, { text }] of (await Promise.all(calls)).entries()) {
        expect(JSON.parse(text)).toMatchObject({ content: { said: `you asked: person ${index}` } });
        expect(people[index]?.shown.all.map(({ message }) => message)).toEqual([`person ${index}`]);
      }
    },
  );

  it.each([
    ["unknown_legacy", ["legacy", "legacy", "legacy"]],
    ["unknown_modern", ["modern", "modern", "modern"]],
    ["unknown_mixed", ["legacy", "modern", "legacy"]],
  ] as const)(
    "GR-7 clients of one stdio server, %s, each get their own request at once, also the first time",
    async (server, eras) => {
      const asked = eras.map(() => held());
      const clients = await Promise.all(eras.map((era, at) => connect(era, { elicit: asked[at]?.elicit ?? fail })));
      // Independent of the server's order: no client replies before all got their request.
      const calls = clients.map((client, at) => client.call(`${server}__form`, { marker: `first ${at}` }));
      const shown = await Promise.all(asked.map(({ shown: messages }) => messages.find(() => true)));
      expect(shown.map(({ message }) => message)).toEqual(eras.map((_, at) => `first ${at}`));
      for (const { release } of asked) release();
      expect((await Promise.all(calls)).map(({ text }) => JSON.parse(text).content.said)).toEqual(
        eras.map((_, at) => `you asked: first ${at}`),
      );
      const again = await Promise.all(clients.map((client, at) => client.call(`${server}__form`, { marker: `${at}` })));
      expect(again.map(({ isError }) => isError)).toEqual(eras.map(() => false));
      // An unfinished call of one client does not block others.
      const leaver = new AbortController();
      const left = clients[0]?.call(`${server}__works_on`, { marker: "left" }, { signal: leaver.signal });
      await asked[0]?.shown.find(({ message }) => message === "left");
      leaver.abort();
      await expect(left).rejects.toThrow();
      expect((await clients[1]?.call(`${server}__form`, { marker: "after it" }))?.text).toContain(
        "you asked: after it",
      );
    },
  );

  it.each(CLIENTS)(
    "GR-7 with `isolation: shared`, a request during calls of two %s clients reaches neither",
    async (era) => {
      const first = held();
      const [one, other] = [await connect(era, { elicit: first.elicit }), await connect(era)];
      const call = one.call("shared_stdio__form", { marker: "mine" });
      await first.shown.more(0);
      const { isError, text } = await other.call("shared_stdio__form", { marker: "not yours" });
      expect([isError, JSON.parse(text)]).toMatchObject([true, { code: -32600 }]);
      // The message names the remedy.
      expect(text).toContain('\\"isolation\\": \\"per-session\\"');
      first.release();
      expect((await call).text).toContain("you asked: mine");
      expect(first.shown.all).toHaveLength(1);
      expect(other.asked.all).toEqual([]);
    },
  );

  it("GR-7 the completion of a URL elicitation reaches its client, in whichever call it is sent", async () => {
    const [one, other] = [await connect("legacy"), await connect("legacy")];
    await expect(one.call("legacy_http__url_error", { marker: "visit" })).rejects.toMatchObject({
      code: -32042,
      data: { elicitations: [{ elicitationId: "visit", url: "https://example.com/visit" }] },
    });
    await expect(other.call("legacy_http__url_error", { marker: "another visit" })).rejects.toThrow();
    await other.call("legacy_http__finish_url", { marker: "visit" });
    expect(await one.completed.find(() => true)).toEqual({ elicitationId: "visit" });
    await one.call("legacy_http__url", { marker: "m" });
    await one.completed.more(1);
    expect(other.completed.all).toEqual([]);
  });
});

describe("unsupported requests", () => {
  const refused = (era: ClientEra, server: string, tool: string, capabilities: object) =>
    connect(era, { capabilities: { ...capabilities } }).then((client) =>
      client.call(`${server}__${tool}`, { marker: "m" }).then(
        ({ isError, text }) => ({ isError, text, asked: client.asked.all.length }),
        (error: { code: number; data?: unknown }) => ({ code: error.code, data: error.data }),
      ),
    );

  it.each(SERVERS)("GR-7 are refused to %s for a legacy client, with the missing capability", async (server) => {
    for (const [tool, name] of [
      ["form", "elicitation"],
      ["sampling", "sampling"],
      ["roots", "roots"],
    ] as const) {
      const answer = await refused("legacy", server, tool, {});
      expect(answer).toMatchObject({ isError: true, text: expect.stringContaining(name), asked: 0 });
    }
    const { text } = (await refused("legacy", server, "url", { elicitation: {} })) as { text: string };
    expect(text).toContain("elicitation.url");
  });

  it("GR-7 fail for a modern client: by a modern server itself, by the hub for a legacy server", async () => {
    for (const server of ["legacy_stdio", "legacy_http"]) {
      const withoutForm = { code: -32021, data: { requiredCapabilities: { elicitation: { form: {} } } } };
      expect(await refused("modern", server, "form", { roots: {} })).toMatchObject(withoutForm);
      expect(await refused("modern", server, "form", {})).toMatchObject(withoutForm);
      expect(await refused("modern", server, "sampling_tools", { sampling: {} })).toMatchObject({
        code: -32021,
        data: { requiredCapabilities: { sampling: { tools: {} } } },
      });
      expect(await refused("modern", server, "url_error", { elicitation: {} })).toMatchObject({
        code: -32021,
        data: { requiredCapabilities: { elicitation: { url: {} } } },
      });
    }
    expect(await refused("modern", "modern_http", "form", {})).toMatchObject({ code: -32021 });
  });

  it("CL-2 GR-7 a modern server gets the caller's capabilities with each call", async () => {
    const legacy = await connect("legacy", { capabilities: { roots: { listChanged: true }, sampling: {} } });
    const modern = await connect("modern", { capabilities: { elicitation: { form: {} } } });
    for (const server of ["modern_stdio", "modern_http"]) {
      const [a, b] = await Promise.all([legacy, modern].map((client) => client.call(`${server}__capabilities`)));
      expect(JSON.parse(a?.text ?? "")).toEqual({ roots: {}, sampling: {} });
      expect(JSON.parse(b?.text ?? "")).toEqual({ elicitation: { form: {} } });
    }
  });
});

describe("cancellation and disconnects", () => {
  it.each(["cancel_stdio", "legacy_http"])(
    "GR-7 CL-3 a cancelled call cancels its request at the client, and %s is notified",
    async (server) => {
      const hold = held();
      const client = await connect("legacy", { elicit: hold.elicit });
      const cancel = new AbortController();
      const marker = `cancelled ${server}`;
      const call = client.call(`${server}__form`, { marker }, { signal: cancel.signal });
      const { signal } = await hold.shown.find(() => true);
      cancel.abort();
      await expect(call).rejects.toThrow();
      if (!signal.aborted) await new Promise((resolve) => signal.addEventListener("abort", resolve));
      expect((await client.call(`${server}__cancelled`, { marker })).text).toBe("cancelled");
      hold.release();
    },
  );

  it("GR-7 F05 a legacy client that disconnects leaves no server waiting, legacy or modern", async () => {
    const leave = async (server: string) => {
      const hold = held();
      const client = await connect("legacy", { elicit: hold.elicit });
      const call = client.call(`${server}__form`, { marker: "gone" }).catch(() => "gone");
      await hold.shown.more(0);
      await client.close();
      expect(await call).toBe("gone");
      hold.release();
      // Its call has ended and is in the log.
      const rows = await untilRecorded(server, "gone");
      expect(rows).toHaveLength(1);
      expect(rows[0]).toMatchObject({ success: false });
    };
    // Concurrently: each waits until a lost client counts as gone.
    await Promise.all([leave("legacy_http"), leave("modern_http")]);
  });

  it.each(["end_stdio", "legacy_http"])(
    "GR-7 a legacy client's ended session cancels the call at %s",
    async (server) => {
      const marker = `ended ${server}`;
      const session = await rpcConnect(`${hub.url}/mcp`, "2025-11-25", undefined, ABLE);
      const stream = await openStream(`${hub.url}/mcp`, {
        method: "POST",
        headers: session.headers,
        body: {
          jsonrpc: "2.0",
          id: 9,
          method: "tools/call",
          params: { name: `${server}__form`, arguments: { marker } },
        },
      });
      await stream.messages.find(({ method }) => method === "elicitation/create");
      await http(`${hub.url}/mcp`, { method: "DELETE", headers: session.headers });
      const client = await connect("legacy");
      expect((await client.call(`${server}__cancelled`, { marker })).text).toBe("cancelled");
      stream.close();
    },
  );

  it("GR-7 a server may cancel its request", async () => {
    const hold = held();
    const client = await connect("legacy", { elicit: hold.elicit });
    const { text } = await client.call("legacy_http__change_of_mind", { marker: "m" });
    expect(text).toBe("never mind");
    expect((await hold.shown.find(() => true)).signal.aborted).toBe(true);
    hold.release();
  });
});

describe("rounds of a modern server for a legacy client", () => {
  it("GR-7 end after ten with an error", async () => {
    const client = await connect("legacy");
    expect((await client.call("modern_http__rounds", { marker: "m", rounds: 10 })).isError).toBe(false);
    expect(await client.call("modern_http__rounds", { marker: "m", rounds: 11 })).toMatchObject({
      isError: true,
      text: expect.stringContaining("10 rounds"),
    });
  });

  it("GR-7 repeat the call of a server that asks for nothing", async () => {
    const client = await connect("legacy");
    expect(await client.call("modern_http__later")).toEqual({ isError: false, text: "now" });
  });

  it("GR-7 take a refused form as an answer, and end the call on refused sampling", async () => {
    const client = await connect("legacy", { elicit: () => Promise.reject(new Error("no")) });
    expect(JSON.parse((await client.call("modern_http__form", { marker: "m" })).text)).toEqual({ action: "cancel" });
  });

  it("RS-4 are one call in the log, with the final reply", async () => {
    const client = await connect("legacy");
    await client.call("modern_stdio__rounds", { marker: "recorded", rounds: 3 });
    const rows = await untilRecorded("modern_stdio", "recorded");
    expect(rows).toHaveLength(1);
    expect(JSON.stringify(rows[0]?.result)).toContain("you asked: recorded 3");
  });

  it("GR-7 give a URL elicitation an id, and complete it with the result", async () => {
    const client = await connect("legacy");
    await client.call("modern_http__url", { marker: "m" });
    const { elicitationId } = client.asked.all[0].params;
    expect(elicitationId).toMatch(/^[0-9a-f-]{36}$/);
    expect(await client.completed.find(() => true)).toEqual({ elicitationId });
  });
});

describe.each(CLIENTS)("a %s client that launches the hub", (era) => {
  it("GR-7 gets requests over stdio from every kind of server", async () => {
    const client = await connectAsked(era, { home });
    open.push(client);
    for (const server of SERVERS) {
      const { text } = await client.call(`${server}__several`, { marker: server });
      expect(JSON.parse(text)).toMatchObject([
        { content: { said: `you asked: ${server}` } },
        { roots: [{ uri: "file:///home" }] },
        { content: { text: "sampled" } },
      ]);
    }
    expect(client.asked.all).toHaveLength(12);
  });
});

/** The recorded calls of a server whose arguments have this marker; waits until there is one. */
async function untilRecorded(server: string, marker: string) {
  for (;;) {
    const { stdout } = await plugboard(home, ["calls", "--server", server, "--json"]);
    const all: { params?: { marker?: string }; result: unknown; success: boolean }[] = JSON.parse(stdout);
    const rows = all.filter(({ params }) => params?.marker === marker);
    if (rows.length > 0) return rows;
  }
}
