// A hub in the test process with its management API on a real socket. It records every byte that it sends, so that a test can
// search the output for values that must not appear.

import type { LookupFunction } from "node:net";
import { join } from "node:path";
import { expect } from "vitest";
import { createApi, type Api, type ApiOptions } from "../../hub/src/api/server/app.ts";
import { BrowserAccess } from "../../hub/src/api/server/browser/access.ts";
import { HubClient } from "../../hub/src/api/client/client.ts";
import { EventLog } from "../../hub/src/api/server/live/event-log.ts";
import { EventStreams } from "../../hub/src/api/server/live/event-streams.ts";
import type { Route } from "../../hub/src/api/server/route.ts";
import { createRoutes } from "../../hub/src/api/server/route-table.ts";
import { problem } from "../../hub/src/api/schemas/error.ts";
import { Authenticator } from "../../hub/src/auth/authenticator.ts";
import { ManagementToken, readManagementToken } from "../../hub/src/auth/management-token.ts";
import { RequestRates } from "../../hub/src/auth/request-rates.ts";
import { Redactor } from "../../hub/src/redaction/redactor.ts";
import { hubPaths, type HubPaths } from "../../hub/src/config/files/paths.ts";
import type { PlatformContext } from "../../hub/src/config/files/system-folders.ts";
import { resourceAddresses } from "../../hub/src/hub/resources.ts";
import { Listener, type Edge } from "../../hub/src/http/listener.ts";
import { answerProbe } from "../../hub/src/api/server/probes.ts";
import { append } from "./calls.ts";
import type { CallLog } from "../../hub/src/call-log/port.ts";
import { MemoryCallLog } from "../../hub/src/call-log/memory-call-log.ts";
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
  readonly user: PlatformContext;
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
  readonly lookup?: LookupFunction;
  /** The number of wrong tokens allowed per minute. */
  readonly wrongTokens?: number;
}

export async function openManaged(servers: Servers | undefined, options: Options = {}): Promise<ManagedHub> {
  const { groups, variables = {}, lookup, wrongTokens = 1_000_000, ...api } = options;
  const inProcess = await openInProcess(servers, { groups, variables, ...(lookup === undefined ? {} : { lookup }) });
  const { hub, home } = inProcess;
  const paths = hubPaths({ env: home.env, platform: process.platform, home: home.dir });
  // Clients' files are in the test's own folder.
  const user = { env: { ...home.env, PATH: process.env["PATH"] }, platform: process.platform, home: home.dir };
  const managementToken = await ManagementToken.open(
    paths.data,
    new RequestRates({ wrong_credentials: { perSecond: 1 / 60, burst: wrongTokens } }),
  );
  const ui = {
    users: hub.users,
    sso: undefined,
    sessionsPath: () => join(paths.data, "ui-sessions.json"),
    onWarning: () => undefined,
  };
  const authenticator = new Authenticator({
    management: managementToken,
    tokens: hub.accessTokens,
    addresses: resourceAddresses(),
    isMcpOpen: true,
  });
  const edge = createApi({ hub, paths, user, authenticator, callLog: hub.callLog, ui, ...api });
  const probes: Edge = (request, response) =>
    answerProbe(request, response, {
      stopping: hub.isStopping,
      dataDir: paths.data,
      degraded: (api.callLog ?? hub.callLog).degraded,
      staysReady: false,
    });
  const listener = await Listener.open({ host: "127.0.0.1", port: 0, edges: [probes, edge] });
  const token = (await readManagementToken(paths.data)) ?? "";
  const seen: string[] = [];
  const browser = new BrowserAccess({ ...ui, token: managementToken });
  const routes = createRoutes({ hub, paths, user, callLog: hub.callLog }, noStreams(), browser);
  return {
    ...inProcess,
    url: listener.url,
    token,
    paths,
    user,
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

/** Checks that an answer matches the route's schema exactly. */
function requireDocumented(routes: readonly Route[], { method, path, status, json }: Given): void {
  if (status === 304) return;
  if (status >= 300) return expectShape(problem, json, `${method} ${path}: ${status}`);
  const asked = path.split("?", 1)[0] ?? "";
  const route = routes.find(
    (each) =>
      each.method === method.toLowerCase() &&
      new RegExp(`^${each.path.replaceAll(/\{\w+\}/g, "[^/]+")}$`).test(asked) &&
      // A server may be named "test", too.
      (asked !== "/servers/test" || each.path === asked),
  );
  if (route === undefined || route.answer === undefined) return;
  expect(status).toBe(route.status);
  expectShape(route.answer, json, `${method} ${path}`);
}

function expectShape(schema: Route["answer"] & object, json: unknown, where: string): void {
  // Parsing drops members that the schema does not know.
  expect([where, schema.parse(json)]).toEqual([where, json]);
}

const isBytes = (body: unknown): body is string | Buffer => typeof body === "string" || Buffer.isBuffer(body);

/** A log in memory, of which some members behave differently. */
export function logWith(members: Partial<CallLog>): CallLog {
  const log = new MemoryCallLog({ redactor: new Redactor() });
  return Object.defineProperties(log, Object.getOwnPropertyDescriptors(members));
}

/** A log in memory with the given number of calls; the even ones belong to the server "even". */
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
