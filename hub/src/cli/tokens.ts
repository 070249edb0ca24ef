// About how much of a model's context the tools of a server take. An estimate: each model counts in its own way.

import type { Tool } from "../api/schemas/tool.ts";

/** Of JSON and English prose, by the tokenizers in common use. */
const CHARACTERS_PER_TOKEN = 4;

export function tokensOf(tools: readonly Pick<Tool, "name" | "description" | "input_schema">[]): number {
  const characters = tools.reduce(
    (sum, { name, description, input_schema }) =>
      sum + JSON.stringify({ name, description, inputSchema: input_schema }).length,
    0,
  );
  return Math.ceil(characters / CHARACTERS_PER_TOKEN);
}

/** @example approximate(11_240) // "≈11k" */
export function approximate(tokens: number): string {
  if (tokens < 1000) return `≈${Math.ceil(tokens / 10) * 10}`;
  const thousands = tokens / 1000;
  return `≈${thousands < 10 ? thousands.toFixed(1) : Math.round(thousands)}k`;
}
