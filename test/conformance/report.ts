// One test per scenario, so that a report shows which of them failed; an expected failure that passes fails too.

import { expect, it } from "vitest";
import type { Run, Scenario } from "./suite.ts";

export function testScenarios(
  scenarios: readonly Scenario[],
  run: () => Run | undefined,
  expected: ReadonlyMap<string, string>,
): void {
  for (const { name, scored } of scenarios) {
    const why = expected.get(name);
    const marks = [...(scored ? [] : ["not scored"]), ...(why === undefined ? [] : [`expected to fail: ${why}`])];
    it(`CL-2 GR-7 ${name}${marks.length === 0 ? "" : ` (${marks.join("; ")})`}`, () => {
      const complaints = run()?.complaints(name);
      if (why === undefined) expect(complaints).toEqual([]);
      else expect(complaints, "It passes now: strike it out of the expected failures").not.toEqual([]);
    });
  }

  it("CL-2 GR-7 what is expected to fail are scenarios of this revision", () => {
    const known = new Set(scenarios.map(({ name }) => name));
    expect([...expected.keys()].filter((name) => !known.has(name))).toEqual([]);
  });
}
