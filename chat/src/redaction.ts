import { NO_REDACTION, type TextRedactor } from "./outgoing.ts";
import type { Redaction } from "./config/schema.ts";

export function createRedactor(_rules: Redaction | undefined): TextRedactor {
  return NO_REDACTION;
}
