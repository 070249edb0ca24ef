// The Python with the client libraries of the tests: a virtual environment in test/.venv, or the one that PLUGBOARD_TEST_PYTHON names.

import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const TEST = fileURLToPath(new URL("..", import.meta.url));
const OWN = `${TEST}.venv/bin/python`;
/** The command that installs it, run from the root of the checkout. */
const INSTALL = "python3 -m venv test/.venv && test/.venv/bin/pip install -r test/clients/python/requirements.txt";

const run = promisify(execFile);

export type Python =
  | { readonly kind: "found"; readonly path: string }
  /** `reason` says what to install. */
  | { readonly kind: "missing"; readonly reason: string };

/** A Python that can import all of these modules. If there is none, stderr names the skipped tests. */
export async function findPython(...modules: readonly string[]): Promise<Python> {
  const path = process.env["PLUGBOARD_TEST_PYTHON"] ?? OWN;
  const wanted = modules.map((name) => `import ${name}`).join("\n");
  const isThere =
    existsSync(path) &&
    (await run(path, ["-c", wanted]).then(
      () => true,
      () => false,
    ));
  if (isThere) return { kind: "found", path };
  const reason = `no Python with ${modules.join(", ")}: ${INSTALL}`;
  process.stderr.write(`skipped, Python: ${reason}\n`);
  return { kind: "missing", reason };
}
