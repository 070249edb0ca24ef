// The OpenAPI 3.1 document of the routes, from the schemas that validate their requests. OpenAPI 3.1 schemas are JSON Schema
// 2020-12, which zod writes.

import * as z from "zod/mini";
import { VERSION } from "../../version.ts";
import { describe, docs } from "../schemas/docs.ts";
import { problem } from "../schemas/error.ts";
import type { Route } from "./route.ts";

const TOKEN = "management_token";

const IF_MATCH = z.object({
  "if-match": describe(z.optional(z.string()), "Apply the change only if the config still has this revision (ETag)"),
});

export function toDocument(routes: readonly Route[], basePath: string): object {
  const schemas = new SchemaWriter();
  const paths: Record<string, Record<string, object>> = {};
  for (const route of routes) (paths[basePath + route.path] ??= {})[route.method] = toOperation(route, schemas);
  return {
    openapi: "3.1.0",
    info: { title: "Plugboard", version: VERSION, description: "Manages the servers, groups and secrets of a hub." },
    paths,
    components: {
      securitySchemes: { [TOKEN]: { type: "http", scheme: "bearer" } },
      schemas: Object.fromEntries(schemas.components),
    },
  };
}

function toOperation(route: Route, schemas: SchemaWriter): object {
  const { method, tag, id, summary, params, query, body, bodyType = "application/json", versioned } = route;
  const parameters = [
    ...schemas.parameters("path", params),
    ...schemas.parameters("query", query),
    ...(versioned && method !== "get" ? schemas.parameters("header", IF_MATCH) : []),
  ];
  return {
    operationId: id,
    summary,
    tags: [tag],
    security: route.isOpen === true ? [] : [{ [TOKEN]: [] }],
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(body === undefined
      ? {}
      : { requestBody: { required: true, content: { [bodyType]: { schema: schemas.write(body) } } } }),
    responses: {
      [route.status]: toResponse(route, schemas),
      ...(method === "get" && route.answerType === undefined ? { 304: NOT_MODIFIED } : {}),
      default: {
        description: "An error: RFC 9457, with the code and kind of the hub",
        content: { "application/problem+json": { schema: schemas.write(problem) } },
      },
    },
  };
}

const NOT_MODIFIED = { description: "Not modified: the content still has the ETag of If-None-Match" };
const ETAG = { etag: { description: "The revision of the config", schema: { type: "string" } } };

/** Events `stage`, `log`, then `result` or `problem`. */
const PROGRESS = { "text/event-stream": { schema: { type: "string" } } };

function toResponse(
  { answer, answerType = "application/json", versioned, status, progress }: Route,
  schemas: SchemaWriter,
) {
  return {
    description: status === 201 ? "Created" : "Done",
    ...(versioned ? { headers: ETAG } : {}),
    ...(answer === undefined
      ? {}
      : {
          content: { [answerType]: { schema: schemas.write(answer) }, ...(progress === true ? PROGRESS : {}) },
        }),
  };
}

type JsonSchema = z.core.JSONSchema.BaseSchema;

/** Converts zod schemas, and collects those that have a name. */
class SchemaWriter {
  readonly components = new Map<string, unknown>();

  write(schema: z.ZodMiniType): JsonSchema {
    // `input` also for answers: in `output` mode an object is closed, and a new member would break generated clients.
    const options = { metadata: docs, io: "input", override: dropIntegerBounds } as const;
    const { $schema: _, $defs = {}, ...written } = z.toJSONSchema(schema, options);
    for (const [name, definition] of Object.entries($defs)) this.components.set(name, withReferences(definition));
    return withReferences(written);
  }

  parameters(location: "path" | "query" | "header", schema: z.ZodMiniObject): object[] {
    const { properties = {}, required = [] } = this.write(schema);
    return Object.entries(properties).map(([name, property]) => ({
      name,
      in: location,
      required: required.includes(name),
      ...(typeof property === "object" && property.description !== undefined
        ? { description: property.description }
        : {}),
      schema: property,
    }));
  }
}

/** zod gives every integer the bounds of a safe integer. */
function dropIntegerBounds({ jsonSchema }: { readonly jsonSchema: JsonSchema }): void {
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
}

/** zod refers to named schemas in `$defs`, OpenAPI in `components`. */
function withReferences<T extends object>(schema: T): T {
  return JSON.parse(JSON.stringify(schema).replaceAll('"$ref":"#/$defs/', '"$ref":"#/components/schemas/'));
}
