// One route of the API as data: what it is called, what it takes and gives, and what it does. Making it a route of a web
// framework and a part of the OpenAPI document is rest.ts's.

import { z } from "@hono/zod-openapi";
import type { ServerResponse } from "node:http";
import type { EditOptions } from "../config/store.ts";

export const BASE_PATH = "/api/v1";

/** What a request gives to a route, checked. */
export interface Call<P, Q, B> {
  readonly params: P;
  readonly query: Q;
  readonly body: B;
  /** The body as it came, for what JavaScript cannot hold. */
  readonly bytes: Buffer;
  /** What If-Match demands. */
  readonly edit: EditOptions;
  /** The client has gone; never where it may come back for the answer by its Idempotency-Key. */
  readonly signal: AbortSignal;
  readonly url: string;
  readonly header: (name: string) => string | undefined;
  readonly setHeader: (name: string, value: string) => void;
  /** The bare response, for a route that keeps it open. */
  readonly response: ServerResponse;
}

export interface Route {
  readonly method: "get" | "post" | "put" | "patch" | "delete";
  /** Below /api/v1, with parameters as `{id}`. */
  readonly path: string;
  readonly tag: string;
  /** The name of the operation, for generated clients. */
  readonly id: string;
  readonly summary: string;
  readonly params: z.ZodObject;
  readonly query: z.ZodObject;
  readonly body?: z.ZodType | undefined;
  readonly bodyType?: string | undefined;
  readonly status: 200 | 201 | 204;
  /** What it answers; none: no content. */
  readonly answer?: z.ZodType | undefined;
  readonly answerType?: string | undefined;
  /** The config's revision goes with the answer, and a change can demand it. */
  readonly versioned: boolean;
  /** Takes an Idempotency-Key. */
  readonly keyed: boolean;
  // A method, not a property: so that a route of known parameters is one of any.
  run(call: Call<unknown, unknown, unknown>): unknown;
}

type Nothing = typeof NOTHING;

interface RouteSpec<
  P extends z.ZodObject,
  Q extends z.ZodObject,
  B extends z.ZodType,
  A extends z.ZodType,
> extends Pick<Route, "method" | "path" | "tag" | "id" | "summary" | "bodyType" | "answerType"> {
  readonly params?: P;
  readonly query?: Q;
  readonly body?: B;
  readonly status?: Route["status"];
  readonly answer?: A;
  readonly versioned?: boolean;
  readonly keyed?: boolean;
  /** The answer's data, or its bytes; nothing where there is none, or where the response is already under way. */
  run(call: Call<z.output<P>, z.output<Q>, z.output<B>>): Answer<A> | Promise<Answer<A>>;
}

type Answer<A extends z.ZodType> = z.input<A> | Buffer | typeof SENT;

/** The route answers by itself. */
export const SENT = Symbol("sent");

const NOTHING = z.strictObject({});

export function route<
  P extends z.ZodObject = Nothing,
  Q extends z.ZodObject = Nothing,
  B extends z.ZodType = z.ZodUndefined,
  A extends z.ZodType = z.ZodVoid,
>(spec: RouteSpec<P, Q, B, A>): Route {
  const {
    params = NOTHING,
    query = NOTHING,
    answer,
    status = answer === undefined ? 204 : 200,
    versioned = false,
    keyed = false,
  } = spec;
  return { ...spec, params, query, status, answer, versioned, keyed };
}

export const idParam = z.strictObject({
  id: z.string().min(1).openapi({ description: "The id or the name of a server" }),
});
export const nameParam = z.strictObject({ name: z.string().min(1) });
