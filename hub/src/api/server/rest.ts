// The API as a web application: validates every request, maps every error, and serves the OpenAPI document. app.ts has
// checked the credentials before.

import { getRequestListener, type HttpBindings } from "@hono/node-server";
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import { Hono, type Context } from "hono";
import type { IncomingMessage, ServerResponse } from "node:http";
import * as z from "zod/mini";
import type { Authenticator } from "../../auth/authenticator.ts";
import type { AuditLog } from "../../auth/audit.ts";
import type { Grant } from "../../auth/grant.ts";
import type { UiSession } from "../../auth/ui-sessions.ts";
import { HubError } from "../../errors.ts";
import { readBody } from "./body.ts";
import { check } from "./check.ts";
import { toDocument } from "./openapi.ts";
import { HttpFailure, PROBLEM_TYPE, toProblem, wrongMethod } from "../../http/problem.ts";
import { requestIdOf } from "../../http/request-id.ts";
import { codingFor, compressed } from "./compression.ts";
import { matchesEtag, parseIfMatch, toContentEtag, toEtag } from "./revision.ts";
import { BASE_PATH, routesOf, SENT, type Call, type Route } from "./route.ts";
import { audited } from "./route-audit.ts";
import { roleOf } from "./route-roles.ts";
import { addressOf } from "../../http/client-address.ts";

const { get } = routesOf("hub");

type Env = { Bindings: HttpBindings };

/** Someone without credentials, at an open route. */
const UNKNOWN = { principal: "unknown" } as const;

export interface RestOptions {
  readonly audit: Pick<AuditLog, "run">;
  readonly requireRole: Authenticator["requireRole"];
  readonly routes: readonly Route[];
  readonly revision: () => string;
  readonly onUnexpected: (error: unknown, requestId: string) => void;
  readonly sessionOf: (response: ServerResponse) => UiSession | undefined;
  /** Who makes a request; undefined: someone without credentials. */
  readonly grantOf: (response: ServerResponse) => Grant | undefined;
}

export type Listener = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

export function createRest(options: RestOptions): Listener {
  const app = new Hono<Env>();
  const routes = withDocument(options.routes);
  for (const each of routes) {
    const path = BASE_PATH + each.path.replaceAll(/\{(\w+)\}/g, ":$1");
    app.on(each.method, path, (context) => answer(context, each, options));
  }
  app.notFound((context) => fail(context, noRoute(context.req.path, routes), options));
  app.onError((error, context) => fail(context, error, options));
  // The global Request and Response stay unchanged: the hub may be embedded in another program.
  return getRequestListener(app.fetch, { overrideGlobalObjects: false });
}

/** The routes, and one that serves the OpenAPI document of them all. */
function withDocument(described: readonly Route[]): readonly Route[] {
  let document: object | undefined;
  const routes: readonly Route[] = [
    ...described,
    get("/openapi.json", "getOpenApi", "This document", {
      answer: z.looseObject({}),
      run: () => ({ ...(document ??= toDocument(routes, BASE_PATH)) }),
    }),
  ];
  return routes;
}

async function answer(context: Context<Env>, matched: Route, options: RestOptions): Promise<Response> {
  const { revision, sessionOf, grantOf } = options;
  const { req, env } = context;
  const grant = grantOf(env.outgoing);
  if (matched.isOpen !== true) {
    if (grant === undefined) throw new HubError("Unauthenticated", "This address needs credentials");
    options.requireRole(
      grant,
      { role: roleOf(matched.id), changes: matched.method !== "get" },
      addressOf(env.incoming),
    );
  }
  // Hono answers HEAD with the GET handler, which would leave an event stream open.
  if (req.method === "HEAD" && matched.answerType !== undefined) throw wrongMethod(["GET"]);
  const { json, bytes } = await readBody(req.raw);
  const params = check(matched.params, req.param());
  const query = check(matched.query, onlyOnce(req.queries()));
  if (matched.body === undefined && json !== undefined) {
    throw new HttpFailure(400, "VALIDATION_ERROR", "This address takes no body");
  }
  const body = matched.body === undefined ? undefined : check(matched.body, json ?? {});
  const audit = {
    log: options.audit,
    by: grant ?? UNKNOWN,
    address: addressOf(env.incoming),
    requestId: requestIdOf(env.outgoing),
  };
  const call: Call<unknown, unknown, unknown> = {
    params,
    query,
    body,
    bytes,
    edit: {
      ...(matched.versioned ? parseIfMatch(req.header("if-match"), revision()) : {}),
      requestId: requestIdOf(env.outgoing),
    },
    signal: req.raw.signal,
    url: req.url,
    header: (name) => req.header(name),
    setHeader: (name, value) => context.header(name, value),
    response: env.outgoing,
    session: sessionOf(env.outgoing),
    grant,
  };
  const data: unknown = await audited(audit, matched.id, call, () => matched.run(call));
  if (data === SENT) return RESPONSE_ALREADY_SENT;
  if (matched.versioned) context.header("etag", toEtag(revision()));
  if (matched.status === 204) return context.body(null, 204);
  const content = Buffer.isBuffer(data) ? data : Buffer.from(JSON.stringify(data));
  if (matched.method === "get") return sendCacheable(context, content, matched.versioned ? revision() : undefined);
  return context.body(new Uint8Array(content), matched.status, JSON_TYPE);
}

/** With an ETag of the content, and compressed if the client accepts that. */
async function sendCacheable(context: Context<Env>, content: Buffer, revision: string | undefined): Promise<Response> {
  const { req } = context;
  const etag = toContentEtag(revision, content);
  context.header("etag", etag);
  if (matchesEtag(req.header("if-none-match"), etag)) return context.body(null, 304);
  context.header("vary", "accept-encoding");
  const coding = codingFor(req.header("accept-encoding"), content);
  if (coding === undefined) return context.body(new Uint8Array(content), 200, JSON_TYPE);
  context.header("content-encoding", coding);
  return context.body(new Uint8Array(await compressed(content, coding)), 200, JSON_TYPE);
}

const JSON_TYPE = { "content-type": "application/json" };

/** 405 if the path has routes of other methods, 404 if it has none. */
function noRoute(path: string, routes: readonly Route[]): HttpFailure {
  const methods = routes.filter((each) => toPattern(each).test(path)).map(({ method }) => method.toUpperCase());
  if (methods.length > 0) return wrongMethod(methods);
  return new HttpFailure(404, "NOT_FOUND", "Not found");
}

function toPattern({ path }: Route): RegExp {
  return new RegExp(`^${BASE_PATH}${path.replaceAll(".", "\\.").replaceAll(/\{\w+\}/g, "[^/]+")}$`);
}

/** Rejects a duplicate parameter: either value could be meant. */
function onlyOnce(queries: Readonly<Record<string, readonly string[]>>): Record<string, string> {
  const entries = Object.entries(queries).map(([name, values]): [string, string] => {
    if (values.length > 1) throw new HttpFailure(400, "VALIDATION_ERROR", `Duplicate parameter ${name}`);
    return [name, values[0] ?? ""];
  });
  return Object.fromEntries(entries);
}

function fail(context: Context<Env>, thrown: unknown, { onUnexpected }: RestOptions): Response {
  const requestId = requestIdOf(context.env.outgoing);
  const { problem, headers } = toProblem(thrown, requestId);
  if (problem.status >= 500 && problem.kind === "Unexpected") onUnexpected(thrown, requestId);
  return new Response(JSON.stringify(problem), {
    status: problem.status,
    headers: { ...headers, "content-type": PROBLEM_TYPE },
  });
}
