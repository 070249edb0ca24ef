// What is stored about the approval of one server, as text. A text with any damage is refused: what it says decides what runs.

import * as z from "zod/mini";
import { canonicalJson } from "../lib/json/canonical-json.ts";
import { parseJson } from "@plugboard/shared/lenient";
import type { Pins } from "./pins.ts";
import { digestOf } from "./run.ts";

export interface ApprovalRecord {
  /** What may be run. Undefined: an entry written by hand, which needs no approval. */
  readonly run?: RunApproval | undefined;
  /** Undefined: the next listing is pinned, as part of the approval. */
  readonly pins?: Pins | undefined;
}

export interface RunApproval {
  readonly digest: string;
  /** Who approved it. */
  readonly by: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

const VERSION = 1;

const approval = z.object({ digest: z.string(), by: z.string(), at: z.number() });
const pin = z.extend(approval, { definition: z.record(z.string(), z.unknown()) });
const recordSchema = z.object({ run: z.optional(approval), pins: z.optional(z.array(pin)) });
const fileSchema = z.object({
  version: z.literal(VERSION),
  server: z.string(),
  digest: z.string(),
  record: z.unknown(),
});

export function formatRecord(server: string, { run, pins }: ApprovalRecord): string {
  const record = { run, pins: pins && [...pins.values()] };
  return `${canonicalJson({ version: VERSION, server, digest: digestOf({ server, record }), record })}\n`;
}

/** Undefined if the text is damaged, or about another server. */
export function parseRecord(server: string, text: string): ApprovalRecord | undefined {
  const file = fileSchema.safeParse(parseJson(text));
  if (!file.success || file.data.server !== server) return undefined;
  const { record, digest } = file.data;
  if (digestOf({ server, record }) !== digest) return undefined;
  const parsed = recordSchema.safeParse(record);
  if (!parsed.success) return undefined;
  const { run, pins } = parsed.data;
  return {
    run,
    pins: pins && new Map(pins.map((each) => [String(each.definition["name"]), each])),
  };
}
