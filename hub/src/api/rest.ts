// The API as a web application: every route behind the same checks, every failure through the same mapping, and the
// document that describes them. Who may come here at all is decided before, in app.ts.

import { getRequestListener, type HttpBindings } from "@hono/node-server";
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import { OpenAPIHono, z } from "@hono/zod-openapi";
import type { Context } from "hono";
import type { IncomingMessage, ServerResponse } from "node:http";
import { readBody, type Body } from "./body.ts";
import { check } from "./check.ts";
import { digestOf, KEY_HEADER, KeptAnswers, REPLAYED_HEADER, type KeptAnswer } from "./kept-answers.ts";
import { toDocument } from "./openapi.ts";
import { HttpFailure, PROBLEM_TYPE, toProblem, wrongMethod } from "./problem.ts";
import { requestIdOf } from "./request-id.ts";
import { codingFor, compressed } from "./compression.ts";
import { isKnown, parseIfMatch, toContentEtag, toEtag } from "./revision.ts";
import { BASE_PATH, route, SENT, type Route } from "./route.ts";

type Env = { Bindings: HttpBindings };

export interface RestOptions {
  readonly routes: readonly Route[];
  readonly revision: () => string;
  readonly onUnexpected: (error: unknown, requestId: string) => void;
}

export type Listener = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

export function createRest(options: RestOptions): Listener {
  const app = new OpenAPIHono<Env>();
  let document: object | undefined;
  const describe = (): object => (document ??= toDocument(app, routes, BASE_PATH));
  const routes: readonly Route[] = [...options.routes, documentRoute(describe)];
  const kept = new KeptAnswers();
  for (const each of routes) {
    const path = BASE_PATH + each.path.replaceAll(/\{(\w+)\}/g, ":$1");
    app.on(each.method, path, (context) => receive(context, each, { ...options, kept }));
  }
  app.notFound((context) => fail(context, nothingHere(context.req.path, routes), options));
  app.onError((error, context) => fail(context, error, options));
  // The global Request and Response stay what they are: the hub may live in somebody else's program.
  return getRequestListener(app.fetch, { overrideGlobalObjects: false });
}

function documentRoute(document: () => object): Route {
  return route({
    method: "get",
    path: "/openapi.json",
    tag: "hub",
    id: "getOpenApi",
    summary: "This document",
    answer: z.looseObject({}),
    run: () => ({ ...document() }),
  });
}

interface Receiving extends RestOptions {
  readonly kept: KeptAnswers;
}

/** One request, or one that was made before: that is answered as it was then. */
async function receive(context: Context<Env>, asked: Route, { kept, ...options }: Receiving): Promise<Response> {
  const { req } = context;
  // The framework answers HEAD by what GET would do, and a stream would stay open for nobody.
  if (req.method === "HEAD" && asked.answerType !== undefined) throw wrongMethod(["GET"]);
  const body = await readBody(req.raw);
  const key = asked.keyed ? req.header(KEY_HEADER) : undefined;
  if (key === undefined) return answer(context, asked, { ...options, body, signal: req.raw.signal });
  // Whoever comes back for the answer must find one: the work goes on without its client.
  const { signal } = new AbortController();
  const { pathname, search } = new URL(req.url);
  const { answer: given, replayed } = await kept.answer(key, digestOf(req.method, pathname + search, body.bytes), () =>
    answer(context, asked, { ...options, body, signal })
      .catch((error: unknown) => fail(context, error, options))
      .then(toKept),
  );
  const headers = { ...given.headers, ...(replayed ? { [REPLAYED_HEADER]: "true" } : {}) };
  return new Response(new Uint8Array(given.body), { status: given.status, headers });
}

async function toKept(response: Response): Promise<KeptAnswer> {
  const body = Buffer.from(await response.arrayBuffer());
  return { status: response.status, headers: Object.fromEntries(response.headers), body };
}

interface Answering extends RestOptions {
  readonly body: Body;
  readonly signal: AbortSignal;
}

async function answer(
  context: Context<Env>,
  asked: Route,
  { revision, body: given, signal }: Answering,
): Promise<Response> {
  const { req, env } = context;
  const params = check(asked.params, req.param());
  const query = check(asked.query, onlyOnce(req.queries()));
  if (asked.body === undefined && given.json !== undefined) {
    throw new HttpFailure(400, "VALIDATION_ERROR", "This address takes no body");
  }
  const body = asked.body === undefined ? undefined : check(asked.body, given.json ?? {});
  const data: unknown = await asked.run({
    params,
    query,
    body,
    bytes: given.bytes,
    edit: asked.versioned ? parseIfMatch(req.header("if-match"), revision()) : {},
    signal,
    url: req.url,
    header: (name) => req.header(name),
    setHeader: (name, value) => context.header(name, value),
    response: env.outgoing,
  });
  if (data === SENT) return RESPONSE_ALREADY_SENT;
  if (asked.versioned) context.header("etag", toEtag(revision()));
  if (asked.status === 204) return context.body(null, 204);
  const bytes = Buffer.isBuffer(data) ? data : Buffer.from(JSON.stringify(data));
  if (asked.method === "get") {
    const etag = toContentEtag(asked.versioned ? revision() : undefined, bytes);
    context.header("etag", etag);
    if (isKnown(req.header("if-none-match"), etag)) return context.body(null, 304);
    context.header("vary", "accept-encoding");
    // Only what is read: what is kept for a repeated request must suit whoever repeats it.
    const coding = codingFor(req.header("accept-encoding"), bytes);
    if (coding !== undefined) {
      context.header("content-encoding", coding);
      return context.body(new Uint8Array(await compressed(bytes, coding)), asked.status, JSON_TYPE);
    }
  }
  return context.body(new Uint8Array(bytes), asked.status, JSON_TYPE);
}

const JSON_TYPE = { "content-type": "application/json" };

/** No such address, or one that other methods have. */
function nothingHere(path: string, routes: readonly Route[]): HttpFailure {
  const methods = routes.filter((each) => toPattern(each).test(path)).map(({ method }) => method.toUpperCase());
  if (methods.length > 0) return wrongMethod(methods);
  return new HttpFailure(404, "NOT_FOUND", "There is nothing at this address");
}

function toPattern({ path }: Route): RegExp {
  return new RegExp(`^${BASE_PATH}${path.replaceAll(".", "\\.").replaceAll(/\{\w+\}/g, "[^/]+")}$`);
}

/** A parameter given twice could mean either. */
function onlyOnce(queries: Readonly<Record<string, readonly string[]>>): Record<string, string> {
  const entries = Object.entries(queries).map(([name, values]): [string, string] => {
    if (values.length > 1) throw new HttpFailure(400, "VALIDATION_ERROR", `The parameter ${name} is given twice`);
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
