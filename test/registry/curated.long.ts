// Each package of the curated list exists, in the version of the list. Asked by npm and pip, with their registries; skipped without them.

import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { CURATED } from "../../hub/src/registry/curated/servers.ts";

const run = promisify(execFile);
const MINUTE = 60_000;

/** What the program prints; undefined if it fails. */
async function said(program: string, args: readonly string[]): Promise<string | undefined> {
  return run(program, args, { timeout: MINUTE, cwd: "/" }).then(
    ({ stdout }) => stdout,
    () => undefined,
  );
}

const [hasNpm, hasPip] = await Promise.all([
  said("npm", ["view", "--fetch-retries=0", "--loglevel=silent", "npm", "version"]),
  said("pip", ["index", "versions", "--disable-pip-version-check", "--retries=0", "pip"]),
]);
const packages = CURATED.map(({ run: what }) => /^(npm|pypi):(.+?)(?:@|==)([^@=]+)$/.exec(what)).filter(
  (match) => match !== null,
);

describe.each([
  { kind: "npm", isThere: hasNpm !== undefined },
  { kind: "pypi", isThere: hasPip !== undefined },
])("RG-1 the curated packages of $kind", ({ kind, isThere }) => {
  const rows = packages
    .filter((match) => match[1] === kind)
    .map(([, , name = "", version = ""]) => [name, version] as const);
  const skipped = isThere ? "" : " (its registry cannot be reached)";

  it.skipIf(!isThere).each(rows)(`RG-1 %s %s exists${skipped}`, async (name, version) => {
    if (kind === "npm") {
      const found = await said("npm", ["view", "--loglevel=silent", `${name}@${version}`, "version"]);
      expect(found?.trim()).toBe(version);
    } else {
      const found = await said("pip", ["index", "versions", "--disable-pip-version-check", name]);
      expect(found?.match(/Available versions: (.*)/)?.[1]?.split(", ")).toContain(version);
    }
  });
});
