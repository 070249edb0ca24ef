import { describe, expect, it } from "vitest";
import { normalizeServer } from "../../../config/parse/normalize.ts";
import type { Json } from "../../../config/parse/plain-object.ts";
import type { HubError } from "../../../errors.ts";
import { toShown } from "./entry.ts";
import { KnownSecrets } from "./known-secrets.ts";
import { toJsonObject } from "./object.ts";
import { restoreMasked } from "./restore.ts";

const stdio = {
  command: "docker",
  args: ["run", "--token", "first-secret", "--password", "second-secret", "--key=third-secret", "image"],
  env: {
    API_KEY: "env-secret",
    MODE: "fast",
    DB: "postgres://u:db-secret@db/x",
    PIN_CODE: { value: "1234", isSecret: true },
    STORED: { secretRef: "service", required: true },
    NEEDED: { value: "v", required: true },
    REF: "${REF}",
  },
  config: { apiKey: "json-secret", list: [{ token: "deep-secret" }] },
};

const remote = {
  url: "https://u:url-secret@example.com/mcp?api_key=query-secret&q=1",
  headers: { Authorization: "Bearer header-secret", "X-Plain": "plain" },
};

const restored = (entry: object, given: Record<string, unknown>) =>
  restoreMasked(toJsonObject(given), normalizeServer("it", entry));

const refusal = (run: () => unknown): HubError => {
  try {
    run();
  } catch (error) {
    return error as HubError;
  }
  throw new Error("Accepted");
};

describe("T12 an entry that is sent back as it was read is restored completely", () => {
  it.each([
    ["stdio", stdio],
    ["remote", remote],
  ])("%s", (_, entry) => {
    const before = normalizeServer("it", entry);
    const shown = toJsonObject(toShown(before));
    expect(JSON.stringify(shown)).not.toMatch(/-secret|1234/);
    const { command, ...rest } = restoreMasked(shown, before);
    const again = "url" in entry ? rest : { ...rest, command: command ?? "" };
    expect(normalizeServer("it", again)).toEqual(before);
  });
});

it("T12 a variable that repeats a secret of the entry is hidden, and restored", () => {
  const env = { API_KEY: "k3y-0f-a-d00r-4711", COPY: "k3y-0f-a-d00r-4711", MODE: "fast" };
  const before = normalizeServer("it", { command: "x", env });
  expect(toShown(before).env).toEqual({ API_KEY: "***", COPY: "***", MODE: "fast" });
  expect(restored({ command: "x", env }, { env: toShown(before).env })).toEqual({ env });
});

describe("T12 a secret of the store that an entry repeats", () => {
  const stored = new KnownSecrets(["st0red-4711-s3cret", "hunter2"]);
  const entry = {
    command: "x",
    args: ["st0red-4711-s3cret", "--to=st0red-4711-s3cret", "hunter2", "hunter2s"],
    env: { COPY: "st0red-4711-s3cret", LINE: "user st0red-4711-s3cret", WORD: "hunter2", MODE: "fast" },
    config: { note: ["st0red-4711-s3cret"] },
  };
  const before = normalizeServer("it", entry);

  it("is hidden, and restored", () => {
    const shown = toShown(before, stored);
    expect(shown).toMatchObject({
      args: ["***", "--to=***", "***", "hunter2s"],
      env: { COPY: "***", LINE: "user ***", WORD: "***", MODE: "fast" },
      config: { note: ["***"] },
    });
    const again = restoreMasked(toJsonObject(shown), before, stored);
    expect(normalizeServer("it", { ...again, command: "x" })).toEqual(before);
  });

  it("is refused as *** if the secret has been removed in the meantime", () => {
    expect(refusal(() => restoreMasked({ env: { COPY: "***" } }, before))).toMatchObject({ field: "env.COPY" });
  });
});

describe("variables", () => {
  it.each<[string, Json, Json]>([
    ["API_KEY", "***", "env-secret"],
    ["API_KEY", "new", "new"],
    ["DB", "postgres://***@db/x", "postgres://u:db-secret@db/x"],
    ["PIN_CODE", "***", { value: "1234", isSecret: true }],
    ["PIN_CODE", "5678", { value: "5678", isSecret: true }],
    ["PIN_CODE", { value: "***", isSecret: false }, { value: "1234", isSecret: false }],
    ["STORED", "***", { secretRef: "service", required: true }],
    ["STORED", "typed", { value: "typed", isSecret: true, required: true }],
    ["STORED", { secretRef: "other" }, { secretRef: "other" }],
    ["NEEDED", "v", { value: "v", required: true }],
    ["NEEDED", "w", { value: "w", required: true }],
    ["REF", "${OTHER}", "${OTHER}"],
    ["NEW", "value", "value"],
  ])("%s given as %j is %j", (name, given, expected) => {
    expect(restored(stdio, { env: { [name]: given } })).toEqual({ env: { [name]: expected } });
  });

  it.each(["env_vars", "envVars"])("%s is restored as a map and as a list", (key) => {
    expect(restored(stdio, { [key]: { API_KEY: "***" } })).toEqual({ [key]: { API_KEY: "env-secret" } });
    expect(restored(stdio, { [key]: [{ name: "API_KEY", value: "***" }] })).toEqual({
      [key]: [{ name: "API_KEY", value: "env-secret" }],
    });
  });
});

describe("addresses", () => {
  it.each([
    ["https://***@example.com/other?api_key=***", "https://u:url-secret@example.com/other?api_key=query-secret"],
    ["https://example.com/mcp?q=2&api_key=***", "https://example.com/mcp?q=2&api_key=query-secret"],
    ["https://example.com/", "https://example.com/"],
  ])("%s is %s", (given, expected) => expect(restored(remote, { url: given })).toEqual({ url: expected }));
});

describe("arguments that moved are found by their name", () => {
  it.each<[string[], string[]]>([
    [
      ["--password", "***", "--token", "***"],
      ["--password", "second-secret", "--token", "first-secret"],
    ],
    [
      ["--new", "run", "--key=***"],
      ["--new", "run", "--key=third-secret"],
    ],
    [
      ["--token", "other"],
      ["--token", "other"],
    ],
  ])("%j is %j", (given, expected) => expect(restored(stdio, { args: given })).toEqual({ args: expected }));
});

describe("T12 a mask without a stored value is refused, and never saved", () => {
  it.each<[object, Record<string, unknown>, string]>([
    [stdio, { env: { OTHER: "***" } }, "env.OTHER"],
    [stdio, { env: { MODE: "***" } }, "env.MODE"],
    [stdio, { env: { OTHER: { value: "***" } } }, "env.OTHER"],
    [stdio, { env: { DB: "postgres://***@elsewhere/x" } }, "env.DB"],
    [stdio, { args: ["--other", "***"] }, "args.1"],
    [stdio, { args: ["***"] }, "args.0"],
    [stdio, { args: ["--other=***"] }, "args.0"],
    [stdio, { config: { other: "***" } }, "config.other"],
    [stdio, { cwd: "***" }, "cwd"],
    [remote, { headers: { Other: "***" } }, "headers.Other"],
    [remote, { url: "https://example.com/?other=***" }, "url"],
    [stdio, { url: "https://***@example.com/" }, "url"],
    [stdio, { package: { identifier: "***" } }, "package.identifier"],
  ])("%#", (entry, given, field) => {
    expect(refusal(() => restored(entry, given))).toMatchObject({ code: "VALIDATION_ERROR", field });
  });

  it("also in a new entry", () => {
    expect(refusal(() => restoreMasked({ env: { API_KEY: "***" } }, undefined))).toMatchObject({
      field: "env.API_KEY",
    });
  });

  it("but a description may contain ***", () => {
    expect(restored(stdio, { description: "*** three stars" })).toEqual({ description: "*** three stars" });
  });
});
