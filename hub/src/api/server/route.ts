// A route of the API as data: its name, its input and output, and its handler. rest.ts registers it with the web framework,
// openapi.ts describes it.

import * as z from "zod/mini";
import type { ServerResponse } from "node:http";
import type { Grant } from "../../auth/grant.ts";
import { HubError } from "../../errors.ts";
import type { UiSession } from "../../auth/ui-sessions.ts";
import type { EditOptions } from "../../config/files/config-store.ts";
import { describe } from "../schemas/docs.ts";

export { BASE_PATH } from "./base-path.ts";

/** A validated request. */
export interface Call<P, Q, B> {
  readonly params: P;
  readonly query: Q;
  readonly body: B;
  /** The unparsed body, for numbers that JavaScript cannot represent. */
  readonly bytes: Buffer;
  /** From If-Match, and the id of the request. */
  readonly edit: EditOptions;
  /** Aborted when the client disconnects. */
  readonly signal: AbortSignal;
  readonly url: string;
  readonly header: (name: string) => string | undefined;
  readonly setHeader: (name: string, value: string) => void;
  /** For a route that streams its answer. */
  readonly response: ServerResponse;
  /** The browser session that made the request; undefined: the management token did. */
  readonly session: UiSession | undefined;
  /** Who makes the request; undefined only at an open route. */
  readonly grant: Grant | undefined;
}

export interface Route {
  readonly method: "get" | "post" | "put" | "patch" | "delete";
  /** Relative to /api/v1, with parameters as `{id}`. */
  readonly path: string;
  readonly tag: string;
  /** The operationId, used by client generators. */
  readonly id: string;
  readonly summary: string;
  readonly params: z.ZodMiniObject;
  readonly query: z.ZodMiniObject;
  readonly body?: z.ZodMiniType | undefined;
  readonly bodyType?: string | undefined;
  readonly status: 200 | 201 | 204;
  /** Undefined: the answer has no content. */
  readonly answer?: z.ZodMiniType | undefined;
  readonly answerType?: string | undefined;
  /** A client that accepts text/event-stream gets the progress first; see progress.ts. */
  readonly progress?: boolean | undefined;
  /** The answer carries the revision of the config, and a change accepts If-Match. */
  readonly versioned: boolean;
  /** Needs no credentials. */
  readonly isOpen?: boolean | undefined;
  // A method, not a property: method parameters are bivariant, so that a route of known parameters is assignable.
  run(call: Call<unknown, unknown, unknown>): unknown;
}

type Nothing = typeof NOTHING;

interface RouteSpec<
  P extends z.ZodMiniObject,
  Q extends z.ZodMiniObject,
  B extends z.ZodMiniType,
  A extends z.ZodMiniType,
> extends Pick<Route, "bodyType" | "answerType" | "progress" | "isOpen"> {
  readonly params?: P;
  readonly query?: Q;
  readonly body?: B;
  readonly status?: Route["status"];
  readonly answer?: A;
  readonly versioned?: boolean;
  run(call: Call<z.output<P>, z.output<Q>, z.output<B>>): Answer<A> | Promise<Answer<A>>;
}

/** Data, or its JSON as bytes. */
type Answer<A extends z.ZodMiniType> = z.input<A> | Buffer | typeof SENT;

/** The route has written the response itself. */
export const SENT = Symbol("sent");

const NOTHING = z.strictObject({});

/**
 * Functions that declare the routes of one tag.
 *
 * @example get("/groups/{name}", "getGroup", "One group", { params: nameParam, answer: group, run: … })
 */
export function routesOf(tag: string) {
  return {
    get: declare(tag, "get"),
    post: declare(tag, "post"),
    put: declare(tag, "put"),
    patch: declare(tag, "patch"),
    remove: declare(tag, "delete"),
  };
}

function declare(tag: string, method: Route["method"]) {
  return <
    P extends z.ZodMiniObject = Nothing,
    Q extends z.ZodMiniObject = Nothing,
    B extends z.ZodMiniType = z.ZodMiniUndefined,
    A extends z.ZodMiniType = z.ZodMiniVoid,
  >(
    path: string,
    id: string,
    summary: string,
    spec: RouteSpec<P, Q, B, A>,
  ): Route => {
    const { params = NOTHING, query = NOTHING, answer, versioned = false } = spec;
    const { status = answer === undefined ? 204 : 200 } = spec;
    return { ...spec, method, path, tag, id, summary, params, query, status, answer, versioned };
  };
}

const segment = () => z.string().check(z.minLength(1));

/** Of a route that is not open. */
export function rightsOf({ grant }: Pick<Call<unknown, unknown, unknown>, "grant">): Grant {
  if (grant !== undefined) return grant;
  throw new HubError("Unauthenticated", "This address needs credentials");
}

export const idParam = z.strictObject({ id: describe(segment(), "Id or name of a server") });
export const nameParam = z.strictObject({ name: segment() });
export const toolParam = { tool: segment() };
export const promptParam = { prompt: segment() };
