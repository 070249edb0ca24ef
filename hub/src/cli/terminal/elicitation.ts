// Elicitation at the terminal: a form, field by field, or a URL to visit. Declined, with the reason, if no user can be asked.

import { isObject, type JsonObject } from "../../lib/json/json.ts";
import { askLine, askYes } from "./ask.ts";
import { openBrowser } from "./browser.ts";
import { readField, type Field } from "./form-field.ts";
import type { Io } from "../io.ts";
import { oneLine, printable } from "./text.ts";

export interface Elicitation {
  /** Name of the server that asks. */
  readonly server: string;
  readonly params: JsonObject;
  /** Aborted when the answer is no longer wanted. */
  readonly signal: AbortSignal;
}

type Answer = { action: "accept"; content?: JsonObject } | { action: "decline" | "cancel" };

/** Asks the user. Ctrl-D in a form cancels it. */
export async function answerElicitation(io: Io, { server, params, signal }: Elicitation): Promise<Answer> {
  const text = typeof params["message"] === "string" ? printable(params["message"]).trim() : "";
  io.stderr.write(`${server} asks: ${text}\n`);
  return params["mode"] === "url" ? visit(io, params, signal) : fillIn(io, params, signal);
}

/** The note for a declined question. */
export function declined({ server, params }: Pick<Elicitation, "server" | "params">, why: string): string {
  const text = typeof params["message"] === "string" ? oneLine(params["message"]).trim() : "";
  return `note: declined "${text}" from ${server}: ${why}`;
}

async function visit(io: Io, { url }: JsonObject, signal: AbortSignal): Promise<Answer> {
  if (typeof url !== "string" || !/^https?:$/.test(URL.canParse(url) ? new URL(url).protocol : "")) {
    io.stderr.write("  Declined: it has no web address.\n");
    return { action: "decline" };
  }
  io.stderr.write(`  ${oneLine(new URL(url).href)}\n`);
  if (!(await askYes(io, `  Open ${new URL(url).host} in a browser?`, { enter: false, signal }))) {
    return { action: signal.aborted ? "cancel" : "decline" };
  }
  if (!(await openBrowser(io, new URL(url).href)))
    io.stderr.write("  Could not open a browser: open the address yourself.\n");
  return { action: "accept" };
}

async function fillIn(io: Io, { requestedSchema }: JsonObject, signal: AbortSignal): Promise<Answer> {
  if (!(await askYes(io, "  Answer?", { signal }))) return { action: signal.aborted ? "cancel" : "decline" };
  const content: Record<string, unknown> = {};
  for (const field of fieldsOf(requestedSchema)) {
    const value = await askField(io, field, signal);
    if (value === "end") return { action: "cancel" };
    if (value.given !== undefined) content[field.key] = value.given;
  }
  return { action: "accept", content };
}

function fieldsOf(schema: unknown): Field[] {
  const { properties, required } = isObject(schema) ? schema : {};
  const needed = new Set<unknown>(Array.isArray(required) ? required : []);
  return Object.entries(isObject(properties) ? properties : {}).map(([key, rule]) => ({
    key,
    rule: isObject(rule) ? rule : {},
    required: needed.has(key),
  }));
}

async function askField(io: Io, field: Field, signal: AbortSignal): Promise<{ given: unknown } | "end"> {
  const readable = readField(field);
  for (;;) {
    const answer = await askLine(io, `  ${readable.question}: `, signal);
    if (answer === undefined) return "end";
    const value = readable.read(answer);
    if (!("problem" in value)) return value;
    io.stderr.write(`  ${value.problem}\n`);
  }
}
