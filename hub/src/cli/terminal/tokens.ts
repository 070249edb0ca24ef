// Tokens of context that tools take, for people.

import type { Tool } from "../../api/schemas/tool.ts";
import { estimateTokens } from "../../catalog/tokens.ts";

export function tokensOf(tools: readonly Tool[]): number {
  return tools.reduce(
    (sum, { name, title, description, input_schema, output_schema, annotations }) =>
      sum +
      estimateTokens({
        name,
        title,
        description,
        inputSchema: input_schema,
        outputSchema: output_schema,
        annotations,
      }),
    0,
  );
}

/** @example approximate(11_240) // "≈11k" */
export function approximate(tokens: number): string {
  if (tokens < 1000) return `≈${Math.ceil(tokens / 10) * 10}`;
  const thousands = tokens / 1000;
  return `≈${thousands < 10 ? thousands.toFixed(1) : Math.round(thousands)}k`;
}
