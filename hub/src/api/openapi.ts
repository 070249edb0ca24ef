// The OpenAPI 3.1 document of the routes, from the same schemas that check their requests.

import { z, type OpenAPIHono } from "@hono/zod-openapi";
import type { Env } from "hono";
import { VERSION } from "../version.ts";
import type { Route } from "./route.ts";
import { problem } from "./schemas/error.ts";

const TOKEN = "management_token";

const ifMatch = z.object({
  "if-match": z.string().optional().openapi({ description: "Only if the config still has this revision (its ETag)" }),
});
const keyHeader = z.object({
  "idempotency-key": z.string().min(1).max(255).optional().openapi({
    description: "Repeating a request with the same key gives the first answer, and does nothing again, for 24 hours",
  }),
});
const etag = { etag: { description: "The revision of the config", schema: { type: "string" as const } } };

/** Describes the routes under a base path. */
export function toDocument<E extends Env>(app: OpenAPIHono<E>, routes: readonly Route[], basePath: string) {
  const registry = app.openAPIRegistry;
  registry.registerComponent("securitySchemes", TOKEN, { type: "http", scheme: "bearer" });
  for (const route of routes) {
    const { method, path, tag, id, summary, params, query, body, bodyType = "application/json" } = route;
    registry.registerPath({
      method,
      path: basePath + path,
      operationId: id,
      summary,
      tags: [tag],
      security: [{ [TOKEN]: [] }],
      request: {
        ...(Object.keys(params.shape).length === 0 ? {} : { params }),
        ...(Object.keys(query.shape).length === 0 ? {} : { query }),
        ...headersOf(route),
        ...(body === undefined ? {} : { body: { required: true, content: { [bodyType]: { schema: body } } } }),
      },
      responses: {
        [route.status]: toResponse(route),
        ...(method === "get" && route.answerType === undefined ? { 304: UNCHANGED } : {}),
        default: PROBLEM,
      },
    });
  }
  return app.getOpenAPI31Document({
    openapi: "3.1.0",
    info: { title: "Plugboard", version: VERSION, description: "Manages the servers, groups and secrets of a hub." },
  });
}

function headersOf({ versioned, method, keyed }: Route) {
  if (versioned && method !== "get") return { headers: keyed ? ifMatch.extend(keyHeader.shape) : ifMatch };
  return keyed ? { headers: keyHeader } : {};
}

const UNCHANGED = { description: "The client has it already, as If-None-Match says" };

const PROBLEM = {
  description: "What went wrong: RFC 9457, with the hub's own code and kind",
  content: { "application/problem+json": { schema: problem } },
};

function toResponse({ answer, answerType = "application/json", versioned, status }: Route) {
  return {
    description: status === 201 ? "Created" : "Done",
    ...(versioned ? { headers: etag } : {}),
    ...(answer === undefined ? {} : { content: { [answerType]: { schema: answer } } }),
  };
}
