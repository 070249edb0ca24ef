import { describe, expect, it } from "vitest";
import { findUndeclared, requireDeclared, undeclaredWarning, withDeclared } from "./allowed-env.ts";
import { normalizeServer } from "./normalize.ts";

const undeclared = (entry: object, allowed?: string) =>
  findUndeclared(normalizeServer("it", entry), { PLUGBOARD_ALLOW_ENV: allowed }).map(
    ({ name, field }) => `${field} ${name}`,
  );

describe("C4 T11 which variables an entry uses without declaring them", () => {
  const url = "https://e.org/?k=${KEY}";
  it.each<[entry: object, allowed: string | undefined, expected: string[]]>([
    [{ url }, undefined, ["url KEY"]],
    [{ url, headers: { A: "Bearer ${TOKEN:-none} ${KEY}" } }, undefined, ["url KEY", "headers.A TOKEN"]],
    [{ url, env: { KEY: "${KEY}" } }, undefined, []],
    [{ url, env: { KEY: { secretRef: "key" } } }, undefined, []],
    [{ url, allowEnv: ["KEY"] }, undefined, []],
    [{ url, allow_env: ["K*"] }, undefined, []],
    [{ url, allowEnv: ["KEYS", "OTHER_*"] }, undefined, ["url KEY"]],
    [{ url }, "OTHER, KEY", []],
    [{ url }, "K*", []],
    [{ url }, "*", ["url KEY"]],
    [{ url: "https://e.org/${HOME}" }, undefined, ["url HOME"]],
    [{ command: "${HOME}/x", args: ["${KEY}"], cwd: "${XDG_DATA_HOME}" }, undefined, ["args.0 KEY"]],
    [{ command: "x", env: { API_KEY: "${KEY}" } }, undefined, []],
    [{ command: "x", args: ["$KEY", "${env:KEY}"] }, undefined, []],
  ])("%j, allowed %s: %j", (entry, allowed, expected) => expect(undeclared(entry, allowed)).toEqual(expected));

  it("what comes through the hub is refused, unless the entry had it before", () => {
    const entry = normalizeServer("it", { url });
    expect(() => requireDeclared(entry, undefined, {})).toThrow(
      expect.objectContaining({
        kind: "InvalidConfig",
        field: "url",
        hint: expect.stringContaining('"allowEnv": ["KEY"]'),
      }),
    );
    expect(() => requireDeclared(entry, entry, {})).not.toThrow();
    expect(() => requireDeclared(entry, undefined, { PLUGBOARD_ALLOW_ENV: "KEY" })).not.toThrow();
  });

  it("the warning names the line to add", () => {
    const [warning] = undeclaredWarning("it", findUndeclared(normalizeServer("it", { url }), {}));
    expect(warning).toContain('add to its entry "allowEnv": ["KEY"]');
    expect(undeclaredWarning("it", [])).toEqual([]);
  });

  it("whoever vouches for an entry declares what it uses", () => {
    expect(withDeclared({ url, allowEnv: ["A"] })).toEqual({ url, allowEnv: ["A", "KEY"] });
    expect(withDeclared({ url }, ({ field }) => field !== "url")).toEqual({ url });
    expect(withDeclared({ command: "x" })).toEqual({ command: "x" });
  });
});
