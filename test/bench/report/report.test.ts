import { describe, expect, it } from "vitest";
import type { Sample } from "../scenarios/scenario.ts";
import { toChart } from "./chart.ts";
import { measured, withResults } from "./document.ts";
import { judge, type Goal } from "./goals.ts";
import { panelsOf } from "./panels.ts";
import { Results, type ScenarioResult } from "./results.ts";
import { toNumber, toTable } from "./table.ts";

/** In the second round the machine was half as fast, which does not change ratios within a round. */
const PER_SECOND: Readonly<Record<string, readonly number[]>> = {
  direct: [20_000, 10_000, 20_000],
  plugboard: [15_000, 7500, 16_000],
};

const samples: Sample[] = Object.entries(PER_SECOND).flatMap(([target, rounds]) =>
  rounds.map((perSecond, round) => ({
    target,
    phase: "100 B × 16",
    round,
    figures: { perSecond, cpuUs: 1e6 / perSecond, p50Ms: 1, p99Ms: 2 },
  })),
);

const results = new Results({
  at: "2026-01-02T03:04:05.000Z",
  machine: { cores: 2, cpu: "a < b & c", node: "v20.0.0", pinned: true, commit: "abc" },
  scenarios: {
    stdio: {
      title: "One stdio server",
      commit: "abc",
      rounds: 3,
      othersBusy: 0.04,
      samples,
      leftOut: { "mcp-hub": "no network" },
    },
  },
});
const spot = { scenario: "stdio", target: "plugboard", phase: "100 B × 16", figure: "perSecond" };

describe("results", () => {
  it("are medians of rounds, with ratios taken within a round", () => {
    expect(results.figure(spot)).toBe(15_000);
    expect(results.ratio(spot, "direct")).toBe(0.75);
    expect(results.difference(spot, "direct")).toBe(-4000);
  });

  it("are undefined if nothing was measured", () => {
    expect(results.figure({ ...spot, target: "nobody" })).toBeUndefined();
    expect(results.ratio(spot, "nobody")).toBeUndefined();
  });
});

describe("goals", () => {
  const goal = (sense: Goal["sense"], limit: number): Goal => ({
    what: "it",
    limit,
    sense,
    unit: "",
    measure: (from) => from.ratio(spot, "direct"),
  });

  it.each([
    ["at least", 0.75, true],
    ["at least", 0.76, false],
    ["at most", 0.75, true],
    ["at most", 0.74, false],
  ] as const)("%s %d of 0.75: %s", (sense, limit, reached) => {
    expect(judge(results, [goal(sense, limit)])[0]?.reached).toBe(reached);
  });

  it("without a measurement have no verdict", () => {
    const what = judge(results).map((verdict) => verdict.goal.what);
    expect(what).toEqual(["calls per second at 16 in flight, of direct"]);
  });
});

describe("tables", () => {
  it("have aligned columns", () => {
    expect(toTable(["a", "long heading"], [["µs × 1", "2"]])).toBe(
      ["| a      | long heading |", "| ------ | ------------ |", "| µs × 1 | 2            |"].join("\n"),
    );
  });

  it.each([
    [12_345.6, "12,346"],
    [87.4, "87"],
    [4.321, "4.3"],
    [0.166, "0.17"],
  ])("%d is written as %s", (value, text) => expect(toNumber(value)).toBe(text));
});

describe("the chart", () => {
  const svg = toChart([...panelsOf(results), { title: "a < b & c", bars: [] }], "name");

  it("has a proportional bar for every target and marks ours", () => {
    const widths = [...svg.matchAll(/<rect [^>]*width="([\d.]+)"[^>]*class="(\w+)"/g)].map((match) => match.slice(1));
    expect(widths.map(([, kind]) => kind)).toEqual(["bar", "ours", "bar", "ours"]);
    const [direct, ours] = widths.map(([width]) => Number(width));
    expect((ours ?? 0) / (direct ?? 1)).toBeCloseTo(0.75, 2);
  });

  it("is well-formed, and made for light and dark pages", () => {
    expect(svg).toContain("a &lt; b &amp; c");
    expect(svg).toContain("prefers-color-scheme: dark");
    expect(svg.match(/<(text|title|style|svg)\b/g)?.length).toBe(svg.match(/<\/(text|title|style|svg)>/g)?.length);
  });
});

describe("the document", () => {
  it("gets the results between its markers, repeatedly, and keeps its own text", () => {
    const empty =
      "# Words\n\n<!-- measured: npm run bench -- --write-docs -->\n\n<!-- end of what is measured -->\n\nMore.\n";
    const once = withResults(empty, results);
    expect(once).toMatch(/^# Words\n[\s\S]*\nMore\.\n$/);
    expect(once).toContain(measured(results));
    expect(withResults(once, results)).toBe(once);
  });

  it("states machine, goals reached and missing targets", () => {
    const text = measured(results);
    expect(text).toContain("Others used at most 4 % of the machine when a scenario began.\n");
    expect(text).toContain("Measured at commit abc on 2026-01-02: Node v20.0.0, 2 cores");
    expect(text).toMatch(/\| calls per second at 16 in flight, of direct +\| ≥ 0.75 +\| 0.75 +\| reached/);
    expect(text).toMatch(/\| plugboard +\| 15,000 \(0.75\)/);
    expect(text).toContain("Medians of 3 rounds. Not measured: mcp-hub.");
  });

  it("warns if the machine was busy", () => {
    const [stdio] = Object.values(results.run.scenarios);
    const restless = { ...results.run, scenarios: { stdio: { ...(stdio as ScenarioResult), othersBusy: 0.5 } } };
    expect(measured(new Results(restless))).toContain(
      "Others used at most 50 % of the machine when a scenario began: ",
    );
  });

  it("without markers is unchanged", () => expect(() => withResults("# Words\n", results)).toThrow("no place"));
});
