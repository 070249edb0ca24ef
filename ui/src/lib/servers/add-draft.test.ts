import { expect, it } from "vitest";
import { draftOf, missingOf, secretsOf, toSavedEntry, toTestEntry, type Draft } from "./add-draft.ts";

const parsed: Parameters<typeof draftOf>[0] = {
  name: "github",
  entry: { command: "npx", args: ["server-github"], env: { TOKEN: "t", MODE: "fast", OTHER: "1" } },
  kind: "npx",
  understood: "npm package server-github, run by npx",
  variables: [
    { name: "TOKEN", required: true, secret: true, value: "t" },
    { name: "MODE", required: false, secret: false, value: "fast" },
    { name: "HOME_URL", required: true, secret: false },
  ],
  warnings: [],
  same_as: null,
};

it("credentials, and what is required and unknown, are kept as secrets at first", () => {
  expect(draftOf(parsed).variables.map(({ name, origin }) => [name, origin])).toEqual([
    ["TOKEN", "secret"],
    ["MODE", "plain"],
    ["HOME_URL", "secret"],
  ]);
  expect(missingOf(draftOf(parsed))).toEqual(["HOME_URL"]);
});

it("a test gets the values, a saved entry the names of secrets", () => {
  const draft = draftOf(parsed);
  expect(toTestEntry(draft).env).toEqual({ OTHER: "1", TOKEN: "t", MODE: "fast" });
  expect(toSavedEntry(draft)).toEqual({
    name: "github",
    command: "npx",
    args: ["server-github"],
    env: { OTHER: "1", TOKEN: { secretRef: "github-TOKEN" }, MODE: "fast" },
  });
  expect(secretsOf(draft)).toEqual([{ name: "github-TOKEN", value: "t" }]);
});

it("a value from the hub's environment is a reference in both", () => {
  const draft: Draft = {
    ...draftOf(parsed),
    groups: ["dev"],
    variables: draftOf(parsed).variables.map((variable) => ({ ...variable, origin: "hub" })),
  };
  expect(toSavedEntry(draft)).toMatchObject({ env: { TOKEN: "${TOKEN}" }, groups: ["dev"] });
  expect(toTestEntry(draft)).toMatchObject({ env: { TOKEN: "${TOKEN}" } });
  expect(secretsOf(draft)).toEqual([]);
  expect(missingOf(draft)).toEqual([]);
});

it("a server that the hub has already is not added unless asked for", () => {
  expect(draftOf({ ...parsed, same_as: "gh" }).isTaken).toBe(false);
});
