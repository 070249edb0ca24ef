// One test per scenario, so that a report names the failed ones; an expected failure that passes fails too.

import { expect, it } from "vitest";
import type { Run, Scenario } from "./suite.ts";

const REPEATS = 2;

export function testScenarios(
  scenarios: readonly Scenario[],
  run: () => Run | undefined,
  expected: ReadonlyMap<string, string>,
): void {
  for (const { name, scored } of scenarios) {
    const why = expected.get(name);
    const marks = [...(scored ? [] : ["not scored"]), ...(why === undefined ? [] : [`expected to fail: ${why}`])];
    it(`CL-2 GR-7 ${name}${marks.length === 0 ? "" : ` (${marks.join("; ")})`}`, async () => {
      if (why === undefined) expect(await complaintsOf(run(), name)).toEqual([]);
      else expect(run()?.complaints(name), "It passes now: remove it from the expected failures").not.toEqual([]);
    });
  }

  it("CL-2 GR-7 all expected failures are scenarios of this revision", () => {
    const known = new Set(scenarios.map(({ name }) => name));
    expect([...expected.keys()].filter((name) => !known.has(name))).toEqual([]);
  });
}

/** Repeats a failed scenario: some allow only half a second, which is too short on a busy machine. */
async function complaintsOf(run: Run | undefined, scenario: string): Promise<readonly string[] | undefined> {
  let complaints = run?.complaints(scenario);
  for (let more = REPEATS; complaints?.length !== 0 && more > 0; more--) complaints = await run?.again(scenario);
  return complaints;
}
