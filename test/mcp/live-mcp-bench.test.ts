// How well the right tool is found among 527 real ones, and how fast among 10,000: LiveMCPBench, whose data is not part of this
// repository.

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { tokensOfJson } from "../../hub/src/catalog/tokens.ts";
import { MAX_HITS } from "../../hub/src/search/meta-tools.ts";
import { searchText } from "../../hub/src/search/search-text.ts";
import { ToolIndex, type IndexedTool } from "../../hub/src/search/tool-index.ts";

/** The folder of the data. */
const DATA = process.env["LIVE_MCP_BENCH"] ?? "";
const hasData = DATA !== "" && existsSync(join(DATA, "tools.json"));

interface Annotation {
  readonly Question: string;
  readonly "Annotator Metadata": { readonly Steps: string; readonly Tools: string };
}

const read = (file: string) => JSON.parse(readFileSync(join(DATA, file), "utf8"));
const linesOf = (text: string) => text.split("\n").flatMap((line) => line.replace(/^\s*\d+[.)]\s*/, "").trim() || []);

const MANY = 10_000;

function readTools(): IndexedTool[] {
  return read("tools.json").flatMap(({ tools: servers }: { tools: object }) =>
    Object.entries(servers).flatMap(([server, { tools: listed }]) =>
      listed.map((definition: { name: string }) => ({ server, exposed: definition.name, definition })),
    ),
  );
}

const readTasks = () => (read("annotations.json") as Annotation[]).map((each) => each["Annotator Metadata"]);

function p95(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length * 0.95)] ?? 0;
}

describe.skipIf(!hasData)(`LiveMCPBench${hasData ? "" : " (LIVE_MCP_BENCH must name its folder)"}`, () => {
  it("RG-3 finds the tool of a step", () => {
    const tools = readTools();
    const index = new ToolIndex(tools);
    const known = new Set(tools.map(({ exposed }) => exposed));
    const found = { 1: 0, 5: 0, 10: 0, all: 0 };
    const times: number[] = [];
    for (const task of readTasks()) {
      const hits = linesOf(task.Steps).map((step) => {
        const begin = performance.now();
        const best = index.search(step, 10).tools.map(({ exposed }) => exposed);
        times.push(performance.now() - begin);
        return best;
      });
      for (const wanted of new Set(linesOf(task.Tools).filter((name) => known.has(name)))) {
        found.all++;
        for (const at of [1, 5, 10] as const) if (hits.some((best) => best.slice(0, at).includes(wanted))) found[at]++;
      }
    }
    const recall = (at: 1 | 5 | 10) => found[at] / found.all;
    const figures = ([1, 5, 10] as const).map((at) => `recall@${at} ${recall(at).toFixed(3)}`).join(", ");
    process.stdout.write(
      `${tools.length} tools, ${times.length} queries: ${figures}, p95 ${p95(times).toFixed(2)} ms\n`,
    );
    expect(recall(10)).toBeGreaterThan(0.74);
  });

  it("RG-3 answers within the token budget among many tools", () => {
    const tools = readTools();
    const many = Array.from({ length: MANY }, (_, n): IndexedTool => {
      const tool = tools[n % tools.length] as IndexedTool;
      return { ...tool, server: `${tool.server} ${n}`, exposed: `${tool.exposed}_${n}` };
    });
    const index = new ToolIndex(many);
    const times: number[] = [];
    const tokens: number[] = [];
    for (const step of readTasks().flatMap((task) => linesOf(task.Steps))) {
      const begin = performance.now();
      const hits = index.search(step, MAX_HITS);
      times.push(performance.now() - begin);
      tokens.push(tokensOfJson(Buffer.from(searchText(hits, many.length))));
    }
    const largest = Math.max(...tokens);
    process.stdout.write(`${MANY} tools: p95 ${p95(times).toFixed(2)} ms, the largest result has ≈${largest} tokens\n`);
    expect(largest).toBeLessThanOrEqual(1200);
  });
});
