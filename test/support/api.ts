// A hub inside the test's own process with its management API on a real socket, and every byte that comes out of it kept,
// so that a test can say at the end what must not have been there.

import { expect } from "vitest";
import { createApi, type Api, type ApiOptions } from "../../hub/src/api/app.ts";
import { HubClient } from "../../hub/src/api/client.ts";
import { EventLog } from "../../hub/src/api/live/event-log.ts";
import { EventStreams } from "../../hub/src/api/live/event-streams.ts";
import type { Route } from "../../hub/src/api/route.ts";
import { createRoutes } from "../../hub/src/api/routes.ts";
import { problem } from "../../hub/src/api/schemas/error.ts";
import { ManagementToken, readManagementToken } from "../../hub/src/auth/management-token.ts";
import { Redactor } from "../../hub/src/calls/redact.ts";
import { hubPaths, type HubPaths } from "../../hub/src/config/paths.ts";
import { Listener } from "../../hub/src/listener.ts";
import { append } from "./calls.ts";
import { MemoryCallLog } from "../../hub/src/store/memory-call-log.ts";
import { openInProcess, type InProcess } from "./in-process.ts";
import { http, type HttpResult } from "./rpc.ts";
import type { Servers } from "./hub.ts";

export interface Asked {
  readonly method?: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Answer extends HttpResult {
  // eslint-disable-next-line typescript/no-explicit-any -- tests look into answers of any form
  readonly json: any;
}

export interface ManagedHub extends Omit<InProcess, "end"> {
  readonly url: string;
  readonly token: string;
  readonly paths: HubPaths;
  readonly api: Api;
  readonly client: HubClient;
  /** Every answer so far: its headers and its body. */
  readonly seen: string[];
  /** One request with the token, below /api/v1. */
  readonly ask: (path: string, asked?: Asked) => Promise<Answer>;
  readonly end: () => Promise<number[]>;
}

interface Options extends Partial<ApiOptions> {
  readonly groups?: unknown;
  readonly variables?: Readonly<Record<string, string>>;
  /** How many wrong tokens a minute. */
  readonly wrongTokens?: number;
}

export async function openManaged(servers: Servers | undefined, options: Options = {}): Promise<ManagedHub> {
  const { groups, variables = {}, wrongTokens = 1_000_000, ...api } = options;
  const inProcess = await openInProcess(servers, { groups, variables });
  const { hub, home } = inProcess;
  const paths = hubPaths({ env: home.env, platform: process.platform, home: home.dir });
  const edge = createApi({
    hub,
    paths,
    token: await ManagementToken.open(paths.data, { limit: wrongTokens }),
    callLog: hub.callLog,
    ...api,
  });
  const listener = await Listener.open({ host: "127.0.0.1", port: 0, edges: [edge] });
  const token = (await readManagementToken(paths.data)) ?? "";
  const seen: string[] = [];
  const routes = createRoutes({ hub, paths, callLog: hub.callLog }, noStreams());
  return {
    ...inProcess,
    url: listener.url,
    token,
    paths,
    api: edge,
    client: new HubClient({ url: listener.url, token }),
    seen,
    ask: async (path, { method = "GET", body, headers = {} } = {}) => {
      const answer = await http(`${listener.url}/api/v1${path}`, {
        method,
        headers: {
          authorization: `Bearer ${token}`,
          ...(body === undefined ? {} : { "content-type": "application/json" }),
          ...headers,
        },
        ...(body === undefined ? {} : { body: isBytes(body) ? body : JSON.stringify(body) }),
      });
      seen.push(JSON.stringify(answer.headers), answer.body);
      const json: unknown = answer.body === "" ? undefined : JSON.parse(answer.body);
      requireDocumented(routes, { method, path, status: answer.status, json });
      return { ...answer, json };
    },
    end: async () => {
      edge.close();
      await listener.close();
      return inProcess.end();
    },
  };
}

const noStreams = () => new EventStreams(new EventLog());

interface Given {
  readonly method: string;
  readonly path: string;
  readonly status: number;
  readonly json: unknown;
}

/** MG-3: an answer is what the route's schema says, no less and no more. */
function requireDocumented(routes: readonly Route[], { method, path, status, json }: Given): void {
  if (status === 304) return;
  if (status >= 300) return expectShape(problem, json, `${method} ${path}: ${status}`);
  const asked = path.split("?", 1)[0] ?? "";
  const route = routes.find(
    (each) =>
      each.method === method.toLowerCase() &&
      new RegExp(`^${each.path.replaceAll(/\{\w+\}/g, "[^/]+")}$`).test(asked) &&
      // "test" is also what a server may be called.
      (asked !== "/servers/test" || each.path === asked),
  );
  if (route === undefined || route.answer === undefined) return;
  expect(status).toBe(route.status);
  expectShape(route.answer, json, `${method} ${path}`);
}

function expectShape(schema: Route["answer"] & object, json: unknown, where: string): void {
  // Members that a schema does not know are left out by it.
  expect([where, schema.parse(json)]).toEqual([where, json]);
}

const isBytes = (body: unknown): body is string | Buffer => typeof body === "string" || Buffer.isBuffer(body);

/** A log in memory with so many calls, the even ones of the server "even". */
export function filledLog(count: number): MemoryCallLog {
  const log = new MemoryCallLog({ redactor: new Redactor() });
  for (let n = 1; n <= count; n++) {
    void append(log, {
      at: 1_700_000_000_000 + n,
      server: n % 2 === 0 ? "even" : "odd",
      tool: "t",
      group: "default",
      params: Buffer.from("{}"),
      result: Buffer.from("{}"),
      outcome: "ok",
      durationMs: n,
    });
  }
  return log;
}

/** A secret in the forms in which it could leak. */
export function formsOf(secret: string): string[] {
  const bytes = Buffer.from(secret);
  return [secret, bytes.toString("base64").replace(/=+$/, ""), bytes.toString("hex"), encodeURIComponent(secret)];
}
