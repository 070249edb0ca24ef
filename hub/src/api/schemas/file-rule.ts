// The rules of the config files in the API's schemas. They are written in zod's small form, which is loaded with the hub; the
// framework describes only the large one. The definitions are the same.

import { z } from "@hono/zod-openapi";

const { core } = z;

type FileRule<S extends z.core.SomeType> =
  S extends z.core.$ZodOptional<infer Inner> ? z.ZodOptional<FileRule<Inner>> : z.ZodType<z.output<S>, z.input<S>>;

/** @example fileRule(groupEntry.shape.servers) */
export function fileRule<S extends z.core.$ZodType>(rule: S): FileRule<S>;
export function fileRule(rule: z.core.$ZodType): z.core.$ZodType {
  if (rule instanceof core.$ZodString) return new z.ZodString(rule._zod.def);
  if (rule instanceof core.$ZodNumberFormat) return new z.ZodNumberFormat(rule._zod.def);
  if (rule instanceof core.$ZodNumber) return new z.ZodNumber(rule._zod.def);
  if (rule instanceof core.$ZodBoolean) return new z.ZodBoolean(rule._zod.def);
  if (rule instanceof core.$ZodEnum) return new z.ZodEnum(rule._zod.def);
  if (rule instanceof core.$ZodLiteral) return new z.ZodLiteral(rule._zod.def);
  if (rule instanceof core.$ZodUnknown) return new z.ZodUnknown(rule._zod.def);
  if (rule instanceof core.$ZodNever) return new z.ZodNever(rule._zod.def);
  if (rule instanceof core.$ZodArray)
    return new z.ZodArray({ ...rule._zod.def, element: fileRule(rule._zod.def.element) });
  if (rule instanceof core.$ZodRecord)
    return new z.ZodRecord({ ...rule._zod.def, valueType: fileRule(rule._zod.def.valueType) });
  if (rule instanceof core.$ZodUnion)
    return new z.ZodUnion({ ...rule._zod.def, options: rule._zod.def.options.map((option) => fileRule(option)) });
  if (rule instanceof core.$ZodOptional)
    return new z.ZodOptional({ ...rule._zod.def, innerType: fileRule(rule._zod.def.innerType) });
  if (rule instanceof core.$ZodNullable)
    return new z.ZodNullable({ ...rule._zod.def, innerType: fileRule(rule._zod.def.innerType) });
  if (rule instanceof core.$ZodObject) {
    const { shape, catchall, ...rest } = rule._zod.def;
    const more = catchall === undefined ? {} : { catchall: fileRule(catchall) };
    return new z.ZodObject({ ...rest, shape: fileRules(shape), ...more });
  }
  throw new TypeError(`No rule of the files is a ${rule._zod.def.type}`);
}

type Shape = Readonly<Record<string, z.core.$ZodType>>;

/** All members of an entry. */
export function fileRules<S extends Shape>(shape: S): { [K in keyof S]: FileRule<S[K]> };
export function fileRules(shape: Shape): Shape {
  return Object.fromEntries(Object.entries(shape).map(([name, rule]) => [name, fileRule(rule)]));
}
