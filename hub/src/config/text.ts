// The rules for single texts of a config (a name, an argument, a header), as zod schemas with plain messages. Which text
// stands where is left to schema.ts.

import * as z from "zod/mini";
import * as limits from "./limits.ts";
import { isMagicKey } from "./plain.ts";

const CONTROL = /\p{Cc}/u;
// Half a surrogate pair: it cannot be written as UTF-8, so a program would get another text than the file shows.
const BROKEN = /\p{Cs}/u;

interface TextRule {
  readonly max: number;
  /** Refuse every control character, and not NUL alone. */
  readonly oneLine?: boolean;
}

/** Text of at most `max` code points, without NUL. */
export function text(what: string, { max, oneLine = false }: TextRule) {
  return z.string().check(
    z.refine((value) => isWithin(value, max), `${what} is longer than ${max} characters`),
    z.refine((value) => !value.includes("\0"), `${what} must not contain a NUL character`),
    z.refine((value) => !oneLine || !CONTROL.test(value), `${what} must not contain control characters`),
    z.refine((value) => !BROKEN.test(value), `${what} is not valid Unicode text`),
  );
}

/** Counts code points, and stops early on a text that cannot fit. */
function isWithin(value: string, max: number): boolean {
  return value.length <= max || (value.length <= 2 * max && Array.from(value).length <= max);
}

export const LEGAL_NAME = /^[A-Za-z0-9_-]*$/;

/** Name of a server or a group, after trim. */
export const name = z.string().check(
  z.trim(),
  z.minLength(1, { error: "Name is required", abort: true }),
  z.refine((value) => isWithin(value, limits.NAME_MAX), `Name is longer than ${limits.NAME_MAX} characters`),
  z.regex(LEGAL_NAME, "Name may only contain letters, digits, _ and -"),
  z.refine((value) => !isMagicKey(value), "This name is reserved, choose another one"),
);

export const envName = text("Variable name", { max: limits.ENV_NAME_MAX }).check(
  // Lower case too: http_proxy.
  z.regex(/^[A-Za-z0-9_]+$/, "Variable name may only contain letters, digits and _"),
);

export const envValue = text("Value", { max: limits.ENV_VALUE_MAX });

export const secretName = text("Secret name", { max: limits.SECRET_NAME_MAX, oneLine: true }).check(
  z.minLength(1, "Secret name is required"),
);

export const headerName = text("Header name", { max: limits.ENV_NAME_MAX }).check(
  // The characters of a token, RFC 9110 section 5.6.2.
  z.regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/, "Header name contains a character that HTTP does not allow"),
);

export const headerValue = text("Header value", { max: limits.HEADER_VALUE_MAX, oneLine: true });

/** A program. It is started without a shell, so what only a shell understands is a mistake or an attack. */
export const command = text("Command", { max: limits.COMMAND_MAX, oneLine: true }).check(
  z.refine((value) => value.trim() !== "", "Command is empty"),
  z.refine((value) => !value.startsWith("-"), "Command must not begin with -"),
  z.refine(
    (value) => !/[;|<>`]|\$\(/.test(value),
    "Command names one program and is run without a shell; put arguments in args",
  ),
  z.refine((value) => !/^(npx|uvx|docker|podman)\s/.test(value), "Command names one program; put arguments in args"),
);

/** An entry of a group's `tools`: `tool`, `server:tool`, either with `*` or after `!`. The limit is the tool's own part. */
export const toolPattern = z.string().check(
  z.refine((value) => value !== "" && value !== "!", "Tool name is required"),
  z.refine((value) => {
    const withoutServer = value.replace(/^!?[A-Za-z0-9_*-]{1,64}:/, "");
    return isWithin(value, limits.TOOL_NAME_MAX) || isWithin(withoutServer, limits.TOOL_NAME_MAX);
  }, `Tool name is longer than ${limits.TOOL_NAME_MAX} characters`),
  z.refine((value) => !CONTROL.test(value), "Tool name must not contain control characters"),
);
