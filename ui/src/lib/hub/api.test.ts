import { describe, expect, it } from "vitest";
import { Api, Problem } from "./api.ts";

interface Sent {
  readonly url: string;
  readonly init: RequestInit;
}

/** An API whose hub gives this answer, what was sent to it, and its storage. */
function apiThat(answer: () => Response | Promise<Response>) {
  const sent: Sent[] = [];
  const stored = new Map<string, string>();
  const fetcher: typeof fetch = (input, init = {}) => {
    sent.push({ url: input instanceof Request ? input.url : input.toString(), init });
    return Promise.resolve().then(answer);
  };
  const api = new Api("http://127.0.0.1:7430/api/v1/", fetcher, {
    getItem: (key) => stored.get(key) ?? null,
    setItem: (key, value) => stored.set(key, value),
    removeItem: (key) => stored.delete(key),
  });
  return { api, sent };
}

const headersOf = ({ init }: Sent) => new Headers(init.headers);

function only<T>(list: readonly T[]): T {
  expect(list).toHaveLength(1);
  return list[0] as T;
}

describe("a request", () => {
  it("has the page's half of the session, its own id, and a body as JSON", async () => {
    const { api, sent } = apiThat(() => Response.json({ name: "x" }));
    api.pageKey = "half";
    expect(await api.post("/servers", { name: "x" }, { ifMatch: '"3"' })).toEqual({ name: "x" });
    const request = only(sent);
    expect(request.url).toBe("http://127.0.0.1:7430/api/v1/servers");
    expect(request.init.body).toBe('{"name":"x"}');
    const headers = headersOf(request);
    expect(headers.get("x-plugboard-key")).toBe("half");
    expect(headers.get("content-type")).toBe("application/json");
    expect(headers.get("if-match")).toBe('"3"');
    expect(api.sent(headers.get("x-request-id") ?? "")).toBe(true);
  });

  it("without a session sends no half of one", async () => {
    const { api, sent } = apiThat(() => Response.json([]));
    await api.get("/servers");
    expect(headersOf(only(sent)).has("x-plugboard-key")).toBe(false);
  });

  it("may have an answer without content", async () => {
    const { api } = apiThat(() => new Response(null, { status: 204 }));
    expect(await api.del("/servers/x")).toBeUndefined();
  });
});

describe("a failed request", () => {
  it("is the hub's problem with all its fields", async () => {
    const body = {
      status: 404,
      code: "NOT_FOUND",
      kind: "UnknownServer",
      message: "There is no server x",
      detail: "There is no server x",
      hint: "plugboard ls",
      errors: [{ field: "name", code: "X", message: "wrong" }],
      login_url: "http://127.0.0.1/login",
    };
    const { api } = apiThat(() => Response.json(body, { status: 404, headers: { "x-request-id": "r1" } }));
    const problem = await api.get("/servers/x").catch((error: unknown) => error);
    expect(problem).toBeInstanceOf(Problem);
    expect(problem).toMatchObject({
      status: 404,
      kind: "UnknownServer",
      message: "There is no server x",
      detail: undefined,
      hint: "plugboard ls",
      errors: body.errors,
      loginUrl: "http://127.0.0.1/login",
      requestId: "r1",
    });
  });

  it("says so when the hub does not answer", async () => {
    const { api } = apiThat(() => Promise.reject(new TypeError("Failed to fetch")));
    await expect(api.get("/servers")).rejects.toMatchObject({ status: 0, code: "UNREACHABLE" });
  });

  it("that was aborted stays an abort", async () => {
    const { api } = apiThat(() => Promise.reject(new DOMException("stop", "AbortError")));
    await expect(api.get("/servers")).rejects.toMatchObject({ name: "AbortError" });
  });

  it("that is not from the hub has its status", async () => {
    const { api } = apiThat(() => new Response("<h1>Bad gateway</h1>", { status: 502 }));
    await expect(api.get("/servers")).rejects.toMatchObject({ status: 502, code: "HTTP_ERROR" });
  });

  it("for want of a session is announced", async () => {
    const { api } = apiThat(() => Response.json({ code: "UNAUTHORIZED", message: "no" }, { status: 401 }));
    let calls = 0;
    const off = api.onUnauthorized(() => (calls += 1));
    await expect(api.get("/servers")).rejects.toMatchObject({ status: 401 });
    off();
    await expect(api.get("/servers")).rejects.toMatchObject({ status: 401 });
    expect(calls).toBe(1);
  });
});

it("a stream gives its events as they come", async () => {
  const { api, sent } = apiThat(() => new Response("event: stage\ndata: 1\n\nevent: result\ndata: 2\n\n"));
  const events: string[] = [];
  await api.stream("/servers/test", { method: "POST", body: {} }, ({ event }) => events.push(event));
  expect(events).toEqual(["stage", "result"]);
  expect(headersOf(only(sent)).get("accept")).toBe("text/event-stream");
});
