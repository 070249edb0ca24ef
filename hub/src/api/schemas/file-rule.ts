// The rules of the config files in the API's schemas. They are written in zod's small form, which is loaded with the hub; the
// framework describes only the large one. The definitions are the same.

import { z } from "@hono/zod-openapi";

type FileRule<S extends z.core.SomeType> =
  S extends z.core.$ZodOptional<infer Inner> ? z.ZodOptional<FileRule<Inner>> : z.ZodType<z.output<S>, z.input<S>>;

/** @example fileRule(groupEntry.shape.servers) */
export function fileRule<S extends z.core.$ZodType>(rule: S): FileRule<S>;
export function fileRule(rule: z.core.$ZodType): z.core.$ZodType {
  const { def } = (rule as z.core.$ZodTypes)._zod; // all the types that there are, told apart by `type`
  switch (def.type) {
    case "string":
      return new z.ZodString(def);
    case "number":
      return isFormat(def) ? new z.ZodNumberFormat(def) : new z.ZodNumber(def);
    case "boolean":
      return new z.ZodBoolean(def);
    case "enum":
      return new z.ZodEnum(def);
    case "literal":
      return new z.ZodLiteral(def);
    case "unknown":
      return new z.ZodUnknown(def);
    case "never":
      return new z.ZodNever(def);
    case "array":
      return new z.ZodArray({ ...def, element: fileRule(def.element) });
    case "record":
      return new z.ZodRecord({ ...def, valueType: fileRule(def.valueType) });
    case "union":
      return new z.ZodUnion({ ...def, options: def.options.map((option) => fileRule(option)) });
    case "optional":
      return new z.ZodOptional({ ...def, innerType: fileRule(def.innerType) });
    case "nullable":
      return new z.ZodNullable({ ...def, innerType: fileRule(def.innerType) });
    case "object": {
      const { catchall } = def;
      const more = catchall === undefined ? {} : { catchall: fileRule(catchall) };
      return new z.ZodObject({ ...def, shape: fileRules(def.shape), ...more });
    }
    default:
      throw new TypeError(`No rule of the files is a ${def.type}`);
  }
}

type Shape = Readonly<Record<string, z.core.$ZodType>>;

/** All members of an entry. */
export function fileRules<S extends Shape>(shape: S): { [K in keyof S]: FileRule<S[K]> };
export function fileRules(shape: Shape): Shape {
  return Object.fromEntries(Object.entries(shape).map(([name, rule]) => [name, fileRule(rule)]));
}

function isFormat(def: z.core.$ZodNumberDef): def is z.core.$ZodNumberFormatDef {
  return "format" in def;
}
