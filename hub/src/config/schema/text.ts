// Rules for single strings of a config (a name, an argument, a header) as zod schemas. schema.ts composes them.

import * as z from "zod/mini";
import * as limits from "./limits.ts";
import { isPrototypeKey } from "../parse/plain-object.ts";

const CONTROL = /\p{Cc}/u;
// Cannot be encoded as UTF-8, so the server would get a different string than the file shows.
const LONE_SURROGATE = /\p{Cs}/u;

interface TextRule {
  readonly max: number;
  /** Reject all control characters, not only NUL. */
  readonly oneLine?: boolean;
}

/** Text of at most `max` code points, without NUL. */
export function text(what: string, { max, oneLine = false }: TextRule) {
  return z.string().check(
    z.refine((value) => isWithin(value, max), `${what} is longer than ${max} characters`),
    z.refine((value) => !value.includes("\0"), `${what} must not contain a NUL character`),
    z.refine((value) => !oneLine || !CONTROL.test(value), `${what} must not contain control characters`),
    z.refine((value) => !LONE_SURROGATE.test(value), `${what} is not valid Unicode text`),
  );
}

/** Counts code points, and skips counting if the text is too long in any case. */
function isWithin(value: string, max: number): boolean {
  return value.length <= max || (value.length <= 2 * max && Array.from(value).length <= max);
}

export const LEGAL_NAME = /^[A-Za-z0-9_-]*$/;

/** Name of a server or group, trimmed. */
export const name = z.string().check(
  z.trim(),
  z.minLength(1, { error: "Name is required", abort: true }),
  z.refine((value) => isWithin(value, limits.NAME_MAX), `Name is longer than ${limits.NAME_MAX} characters`),
  z.regex(LEGAL_NAME, "Name may only contain letters, digits, _ and -"),
  z.refine((value) => !isPrototypeKey(value), "This name is reserved, choose another one"),
);

export const envName = text("Variable name", { max: limits.ENV_NAME_MAX }).check(
  // Lower case is allowed for http_proxy.
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

/** A program, started without a shell. Shell syntax in it is a mistake or an attack. */
export const command = text("Command", { max: limits.COMMAND_MAX, oneLine: true }).check(
  z.refine((value) => value.trim() !== "", "Command is empty"),
  z.refine((value) => !value.startsWith("-"), "Command must not begin with -"),
  z.refine(
    (value) => !/[;|<>`]|\$\(/.test(value),
    "Command must be one program: it is run without a shell; put arguments in args",
  ),
  z.refine((value) => !/^(npx|uvx|docker|podman)\s/.test(value), "Command must be one program; put arguments in args"),
);

/** An entry of a group's `tools`: `tool` or `server:tool`, with optional `*` and leading `!`. The limit applies to the tool part. */
/** Who may use a group: `*`, or a user, team or program by name. */
export const accessEntry = z.string().check(
  z.regex(/^(?:\*|(?:user|team|service):\S.{0,255})$/, {
    error: 'Access is given to "user:<email or id>", "team:<name>", "service:<name>" or "*"',
  }),
  z.refine((value) => !CONTROL.test(value), "Access entries must not contain control characters"),
);

export const toolPattern = z.string().check(
  z.refine((value) => value !== "" && value !== "!", "Tool name is required"),
  z.refine((value) => {
    const withoutServer = value.replace(/^!?[A-Za-z0-9_*-]{1,64}:/, "");
    return isWithin(value, limits.TOOL_NAME_MAX) || isWithin(withoutServer, limits.TOOL_NAME_MAX);
  }, `Tool name is longer than ${limits.TOOL_NAME_MAX} characters`),
  z.refine((value) => !CONTROL.test(value), "Tool name must not contain control characters"),
);
