// The OpenAPI 3.1 document of a group: one operation for each tool, for clients that call tools over REST.

import type { ExposedTool, Group } from "../../catalog/group.ts";
import { isObject, type JsonObject } from "../../lib/json/json.ts";
import { VERSION } from "../../version.ts";

const TOKEN = "access_token";
const COMPONENTS = "#/components/schemas/";
const PROBLEM = "Problem";

export interface DocumentOptions {
  /** The address of the hub, without a slash at the end. */
  readonly base: string;
  readonly needsToken: boolean;
}

/** @example toolPath("dev", "git__log") // "/groups/dev/tools/git__log" */
function toolPath(group: string, exposed: string): string {
  return `/groups/${encodeURIComponent(group)}/tools/${encodeURIComponent(exposed)}`;
}

export function groupDocument(group: Group, { base, needsToken }: DocumentOptions): object {
  const schemas: Record<string, unknown> = { [PROBLEM]: PROBLEM_SCHEMA };
  const paths = group.tools.map((tool) => [toolPath(group.name, tool.exposed), { post: toOperation(tool, schemas) }]);
  return {
    openapi: "3.1.0",
    info: {
      title: `Plugboard: ${group.name}`,
      version: VERSION,
      description: group.description ?? `The tools of the group ${group.name}`,
    },
    servers: [{ url: base }],
    security: needsToken ? [{ [TOKEN]: [] }] : [{ [TOKEN]: [] }, {}],
    paths: Object.fromEntries(paths),
    components: {
      securitySchemes: { [TOKEN]: { type: "http", scheme: "bearer" } },
      schemas,
    },
  };
}

function toOperation({ exposed, server, definition }: ExposedTool, schemas: Record<string, unknown>): object {
  const { title, description, inputSchema, outputSchema } = definition;
  const input = added(schemas, `${exposed}.input`, inputSchema) ?? { type: "object" };
  const output = added(schemas, `${exposed}.output`, outputSchema) ?? {};
  return {
    operationId: exposed,
    summary: typeof title === "string" ? title : exposed,
    ...(typeof description === "string" ? { description } : {}),
    tags: [server],
    requestBody: { required: true, content: { "application/json": { schema: input } } },
    responses: {
      200: { description: "The result of the tool", content: { "application/json": { schema: output } } },
      default: {
        description: "An error of the tool or of the hub (RFC 9457)",
        content: { "application/problem+json": { schema: { $ref: COMPONENTS + PROBLEM } } },
      },
    },
  };
}

/** Keeps a schema among the components. Its own references begin at its root, those of the document at the document's. */
function added(schemas: Record<string, unknown>, name: string, schema: unknown): JsonObject | undefined {
  if (!isObject(schema)) return undefined;
  const { $schema: _, ...rest } = schema;
  schemas[name] = moved(rest, COMPONENTS + name);
  return { $ref: COMPONENTS + name };
}

/** Members that are data, not schemas. */
const DATA: ReadonlySet<string> = new Set(["const", "enum", "default", "example", "examples"]);
const MAX_DEPTH = 64;

function moved(value: unknown, root: string, depth = 0): unknown {
  if (depth > MAX_DEPTH) return value;
  if (Array.isArray(value)) return value.map((item) => moved(item, root, depth + 1));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => {
      if (key === "$ref" && typeof member === "string" && /^#(?:\/|$)/.test(member)) {
        return [key, root + member.slice(1)];
      }
      return [key, DATA.has(key) ? member : moved(member, root, depth + 1)];
    }),
  );
}

const PROBLEM_SCHEMA = {
  type: "object",
  description: "An error: RFC 9457, with the code and kind of the hub",
  properties: {
    type: { type: "string" },
    title: { type: "string" },
    status: { type: "integer" },
    detail: { type: "string" },
    instance: { type: "string" },
    code: { type: "string" },
    kind: { type: ["string", "null"] },
    message: { type: "string" },
    field: { type: ["string", "null"] },
    hint: { type: "string" },
  },
  required: ["type", "title", "status", "detail", "code", "message"],
} as const;
