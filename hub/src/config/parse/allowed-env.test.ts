import { describe, expect, it } from "vitest";
import {
  findUndeclaredVariables,
  requireDeclaredVariables,
  undeclaredWarning,
  declareVariables,
} from "./allowed-env.ts";
import { normalizeServer } from "./normalize.ts";

const undeclared = (entry: object, allowed?: string) =>
  findUndeclaredVariables(normalizeServer("it", entry), { PLUGBOARD_ALLOW_ENV: allowed }).map(
    ({ name, field }) => `${field} ${name}`,
  );

describe("T11 which variables an entry uses without declaring them", () => {
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
    [
      { url: "https://e.org", auth: { client_id: "a", client_secret: "${KEY}" } },
      undefined,
      ["auth.client_secret KEY"],
    ],
    [{ url: "https://e.org", auth: { scopes: ["a", "${KEY}"] } }, undefined, ["auth.scopes.1 KEY"]],
    [{ url: "https://e.org", auth: { type: "workload", token_env: "KEY" } }, undefined, ["auth.token_env KEY"]],
    [{ url: "https://e.org", auth: { type: "workload", token_env: "KEY" }, allowEnv: ["KEY"] }, undefined, []],
    [{ command: "${HOME}/x", args: ["${KEY}"], cwd: "${XDG_DATA_HOME}" }, undefined, ["args.0 KEY"]],
    [{ command: "x", env: { API_KEY: "${KEY}" } }, undefined, []],
    [{ command: "x", args: ["$KEY", "${env:KEY}"] }, undefined, []],
  ])("%j, allowed %s: %j", (entry, allowed, expected) => expect(undeclared(entry, allowed)).toEqual(expected));

  it("an edit through the hub cannot add an undeclared variable, but keeps one that the entry used before", () => {
    const entry = normalizeServer("it", { url });
    expect(() => requireDeclaredVariables(entry, undefined, {})).toThrow(
      expect.objectContaining({
        kind: "InvalidConfig",
        field: "url",
        hint: expect.stringContaining('"allowEnv": ["KEY"]'),
      }),
    );
    expect(() => requireDeclaredVariables(entry, entry, {})).not.toThrow();
    expect(() => requireDeclaredVariables(entry, undefined, { PLUGBOARD_ALLOW_ENV: "KEY" })).not.toThrow();
  });

  it("the warning contains the line to add", () => {
    const [warning] = undeclaredWarning("it", findUndeclaredVariables(normalizeServer("it", { url }), {}));
    expect(warning).toContain('add to its entry "allowEnv": ["KEY"]');
    expect(undeclaredWarning("it", [])).toEqual([]);
  });

  it("declareVariables adds the used variables to allowEnv, except those that are not trusted", () => {
    expect(declareVariables({ url, allowEnv: ["A"] })).toEqual({ url, allowEnv: ["A", "KEY"] });
    expect(declareVariables({ url }, ({ field }) => field !== "url")).toEqual({ url });
    expect(declareVariables({ command: "x" })).toEqual({ command: "x" });
  });
});
