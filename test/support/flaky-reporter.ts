// Names the tests that passed only when they were run a second time.

import type { Reporter, TestCase } from "vitest/node";

export default class FlakyReporter implements Reporter {
  readonly #flaky: string[] = [];

  onTestCaseResult(test: TestCase): void {
    if (test.diagnostic()?.flaky === true) this.#flaky.push(`${test.module.relativeModuleId} > ${test.fullName}`);
  }

  onTestRunEnd(): void {
    if (this.#flaky.length === 0) return;
    process.stdout.write(`\nFlaky, passed in the second run (${this.#flaky.length}):\n  ${this.#flaky.join("\n  ")}\n`);
  }
}
