import { expect, it } from "vitest";
import { explain, findFailureLine } from "./failure-line.ts";

const NODE_CRASH = `/app/dist/index.js:12
    throw new Error("No access token was provided");
    ^

Error: No access token was provided
    at main (/app/dist/index.js:12:11)
    at Module._compile (node:internal/modules/cjs/loader:1554:14) {
  code: 'NO_TOKEN'
}

Node.js v20.20.2`;

const PYTHON_CRASH = `Traceback (most recent call last):
  File "/x/main.py", line 3, in <module>
    main()
KeyError: 'HOST'

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "/x/main.py", line 9, in <module>
ValueError: The host is not configured`;

it.each([
  ["a Node crash", NODE_CRASH, "Error: No access token was provided"],
  ["a Python crash", PYTHON_CRASH, "ValueError: The host is not configured"],
  [
    "a reason above the usage",
    "Error: No access token was provided\nUsage: server [options]\n  --a  one\n  --b  two\nSee the docs",
    "Error: No access token was provided",
  ],
  [
    "a page of usage with better words",
    "No token was provided\nUsage: x\n  --key  KEY_NAME is required",
    "No token was provided",
  ],
  [
    "a variable, although an exception follows",
    "Missing SENTRY_TOKEN, it is required\nError: process ended\n    at x",
    "Missing SENTRY_TOKEN, it is required",
  ],
  ["a log in JSON", '{"level":"info","msg":"starting"}\n{"level":"error","msg":"bad key, denied"}', "bad key, denied"],
  ["a log with times", "2026-11-18T00:00:01.123Z starting\n[error] cannot bind", "cannot bind"],
  ["no complaint: the last line", "hello\nbye", "bye"],
  ["nothing", "", undefined],
])("the failure line of %s is found", (_what, text, line) => {
  expect(findFailureLine(text)).toBe(line);
});

it("the failure line comes first, then the last lines without it", () => {
  const noise = Array.from({ length: 20 }, (_, n) => `line ${n}`);
  const said = explain(["Error: no key", ...noise].join("\n"), 3);
  expect(said).toBe("Error: no key\nline 17\nline 18\nline 19");
  expect(explain("a\nError: no key\nb", 12)).toBe("Error: no key\na\nb");
  expect(explain("", 12)).toBe("");
  expect(explain("Error: no key\nset one\nUsage: x\n  --a", 12)).toBe("Error: no key\nset one");
  expect(explain("Usage: x\n  --a", 12)).toContain("Usage: x");
});
