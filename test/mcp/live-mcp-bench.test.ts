// How well the right tool is found among 527 real ones: LiveMCPBench, whose data is not part of this repository.

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
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

it.skipIf(!hasData)(`RG-3 finds the tool of a step${hasData ? "" : " (LIVE_MCP_BENCH must name its folder)"}`, () => {
  const tools: IndexedTool[] = read("tools.json").flatMap(({ tools: servers }: { tools: object }) =>
    Object.entries(servers).flatMap(([server, { tools: listed }]) =>
      listed.map((definition: { name: string }) => ({ server, exposed: definition.name, definition })),
    ),
  );
  const index = new ToolIndex(tools);
  const known = new Set(tools.map(({ exposed }) => exposed));
  const found = { 1: 0, 5: 0, 10: 0, all: 0 };
  const times: number[] = [];
  for (const { "Annotator Metadata": task } of read("annotations.json") as Annotation[]) {
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
  const p95 = times.toSorted((a, b) => a - b)[Math.floor(times.length * 0.95)] ?? 0;
  const figures = ([1, 5, 10] as const).map((at) => `recall@${at} ${recall(at).toFixed(3)}`).join(", ");
  process.stdout.write(`${tools.length} tools, ${times.length} queries: ${figures}, p95 ${p95.toFixed(2)} ms\n`);
  expect(recall(10)).toBeGreaterThan(0.74);
});
