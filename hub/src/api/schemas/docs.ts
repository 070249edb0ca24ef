// Names and descriptions of schemas for the OpenAPI document. A separate registry: zod's global one is shared with every
// other zod in the process, and the hub may be embedded in a program that registers the same names.

import * as z from "zod/mini";

interface Docs {
  /** Name of a component; undefined: the schema is written in place. */
  readonly id?: string;
  readonly description?: string;
  /** For query values, which are text to zod: the type and the range of the parsed value. */
  readonly type?: "boolean" | "integer" | "number" | "string";
  readonly minimum?: number;
  readonly maximum?: number;
}

export const docs = z.registry<Docs>();

/** A schema that gets a name in `components.schemas`. */
export function component<S extends z.ZodMiniType>(id: string, schema: S): S {
  return document(schema, { id });
}

/** @example describe(z.string(), "Id or name of a server") */
export function describe<S extends z.ZodMiniType>(schema: S, description: string): S {
  return document(schema, { description });
}

export function document<S extends z.ZodMiniType>(schema: S, entry: Docs): S {
  docs.add(schema, entry);
  return schema;
}
