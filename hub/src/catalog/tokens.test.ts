import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { JsonObject } from "../lib/json/json.ts";
import { META_DEFINITIONS } from "../search/meta-tools.ts";
import { estimateTokens } from "./tokens.ts";

/** Found at run time, so that the tests compile without this large package. */
const TOKENIZER = "gpt-tokenizer/encoding/o200k_base";
const tokenizer = load();

function load(): { countTokens(text: string): number } | undefined {
  try {
    return createRequire(import.meta.url)(TOKENIZER);
  } catch {
    return undefined;
  }
}

/** LiveMCPBench, whose data is not part of this repository. */
const DATA = join(process.env["LIVE_MCP_BENCH"] ?? "", "tools.json");
const hasData = process.env["LIVE_MCP_BENCH"] !== undefined && existsSync(DATA);

function benchTools(): JsonObject[] {
  const servers: { tools: Record<string, { tools: JsonObject[] }> }[] = JSON.parse(readFileSync(DATA, "utf8"));
  return servers.flatMap(({ tools }) => Object.values(tools).flatMap((listed) => listed.tools));
}

const ODD: readonly JsonObject[] = [
  { name: "検索", description: "指定されたキーワードでドキュメントを検索します。結果は最大十件です。" },
  { name: "getHTTPResponseByRequestId", description: "Returns https://example.com/a/b?c=d&e=f#g or 1234567890." },
  { name: "x", inputSchema: { type: "object", properties: { a: { enum: ["A_B", "C-D", "e.f"] } }, required: ["a"] } },
];

function errorsOf(tools: readonly JsonObject[]): { p50: number; p95: number; total: number } {
  const pairs = tools.map((tool) => ({
    real: tokenizer?.countTokens(JSON.stringify(tool)) ?? 0,
    estimate: estimateTokens(tool),
  }));
  const errors = pairs.map(({ real, estimate }) => Math.abs(estimate - real) / real).toSorted((a, b) => a - b);
  const at = (share: number) => errors[Math.floor(errors.length * share)] ?? 0;
  const sum = (key: "real" | "estimate") => pairs.reduce((all, pair) => all + pair[key], 0);
  return { p50: at(0.5), p95: at(0.95), total: sum("estimate") / sum("real") - 1 };
}

describe.skipIf(tokenizer === undefined)("RG-3 the estimate, compared with the tokenizer o200k", () => {
  it("is near for tools of this hub, and not far off for odd ones", () => {
    expect(errorsOf(META_DEFINITIONS).p95).toBeLessThan(0.15);
    expect(errorsOf(ODD).p95).toBeLessThan(0.35);
  });

  it.skipIf(!hasData)("is within 5 % for half of 527 real tools, 14 % for 95 %, and 3 % in all", () => {
    const { p50, p95, total } = errorsOf(benchTools());
    process.stdout.write(`p50 ${percent(p50)}, p95 ${percent(p95)}, total ${percent(total)}\n`);
    expect(p50).toBeLessThan(0.05);
    expect(p95).toBeLessThan(0.14);
    expect(Math.abs(total)).toBeLessThan(0.03);
  });
});

it("RG-3 an empty definition takes next to nothing, and a longer text more", () => {
  expect(estimateTokens({})).toBe(1);
  expect(estimateTokens({ description: "word ".repeat(1000) })).toBeGreaterThan(1000);
  expect(estimateTokens({ description: "x".repeat(1000) })).toBeGreaterThan(100);
});

function percent(share: number): string {
  return `${(share * 100).toFixed(1)} %`;
}
