// The entry that is saved: values in place of inputs, secrets as references only, and nothing with a required value missing.

import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { HubError } from "../../errors.ts";
import { OFFER_KINDS } from "../model.ts";
import { readServerJson } from "../server-json/record.ts";
import { chooseDraft, completeDraft, draftsOf, entryName } from "./draft.ts";
import type { GivenValues } from "./values.ts";

function complete(file: string, values: GivenValues, kind?: (typeof OFFER_KINDS)[number]) {
  const text = readFileSync(new URL(`../../../../test/fixtures/server-json/${file}`, import.meta.url), "utf8");
  const record = readServerJson(JSON.parse(text));
  const { offer } = chooseDraft(record, draftsOf(record, "company", new Set(OFFER_KINDS)), kind);
  const secretName = (variable: string) => `it-${variable}`;
  return completeDraft({ record, registry: "company", offer, name: "it", values, secretName });
}

function refusal(run: () => unknown): HubError {
  try {
    run();
  } catch (error) {
    if (error instanceof HubError) return error;
    throw error;
  }
  throw new Error("Nothing was refused");
}

describe("RG-1 the entry of a draft", () => {
  it("RG-1 has the values, the source, and references to secrets", () => {
    const { entry, secrets } = complete("2025-10-17.json", { tenant: "acme", api_key: "s3cret", region: "us" });
    expect(entry).toEqual({
      name: "it",
      description: "An address with variables and headers, as a registry answers with it",
      type: "http",
      url: "https://us.tenants.example.com/mcp/acme",
      headers: { Authorization: "Bearer ${API_KEY}" },
      env: { API_KEY: { secretRef: "it-API_KEY", isSecret: true, required: true } },
      source: { registry: "company", name: "com.example/tenants", version: "2.1.0" },
    });
    expect([...secrets]).toEqual([["it-API_KEY", "s3cret"]]);
    expect(JSON.stringify(entry)).not.toContain("s3cret");
  });

  it("RG-1 a stored secret is referred to, and not stored again", () => {
    const { entry, secrets } = complete("2025-10-17.json", { tenant: "a", api_key: { secretRef: "mine" } });
    expect(entry["env"]).toEqual({ API_KEY: { secretRef: "mine", isSecret: true, required: true } });
    expect(secrets.size).toBe(0);
  });

  it("RG-1 arguments: several values, a switch, and a secret off the command line", () => {
    const { entry, secrets } = complete("2025-12-11.json", { folder: "/a, /b", token: "t0k", verbose: "true" });
    expect(entry["args"]).toEqual(["-y", "@example/many@3.0.0", "/a", "/b", "--token", "${TOKEN}", "--verbose"]);
    expect([...secrets]).toEqual([["it-TOKEN", "t0k"]]);
  });

  it("RG-1 docker: -e becomes a variable of the entry, and its secret is stored whole", () => {
    const { entry, secrets } = complete("2025-07-09.json", { folder: "/srv", token: "t" });
    expect(entry).toMatchObject({
      args: ["run", "--rm", "-i", "-v", "/srv:/work", "example/sandbox:v0.1.6"],
      env: { SANDBOX_TOKEN: { secretRef: "it-SANDBOX_TOKEN", isSecret: true, required: true } },
    });
    expect([...secrets]).toEqual([["it-SANDBOX_TOKEN", "t"]]);
  });

  it.each([
    ["io.github.upstash/context7-mcp", "context7"],
    ["io.github.brave/brave-search-mcp-server", "brave-search"],
    ["com.example/mcp", "example"],
    ["time", "time"],
  ])("RG-1 %s is called %s", (name, expected) => expect(entryName({ name })).toBe(expected));
});

describe("RG-1 MC-NT4 values that are refused", () => {
  it.each<[what: string, file: string, values: GivenValues, field: string, message: RegExp]>([
    ["a required value is missing", "2025-10-17.json", { api_key: "x" }, "values.tenant", /Missing required.*tenant/],
    ["a required secret is missing", "2025-10-17.json", { tenant: "x" }, "values.api_key", /Missing required.*api_key/],
    ["an empty value is none", "2025-10-17.json", { tenant: "", api_key: "x" }, "values.tenant", /tenant/],
    ["an unknown input", "2025-10-17.json", { tenant: "a", api_key: "x", typo: "1" }, "values.typo", /no input "typo"/],
    [
      "none of the choices",
      "2025-10-17.json",
      { tenant: "a", api_key: "x", region: "mars" },
      "values.region",
      /eu, us/,
    ],
    ["no number", "2025-09-29.json", { PAGER_API_KEY: "x", PAGER_RETRIES: "many" }, "values.PAGER_RETRIES", /a number/],
    ["neither true nor false", "2025-12-11.json", { folder: "/", verbose: "yes" }, "values.verbose", /true or false/],
    [
      "a secret for what is not secret",
      "2025-10-17.json",
      { tenant: { secretRef: "x" }, api_key: "x" },
      "values.tenant",
      /not secret/,
    ],
  ])("MC-NT4 %s", (_what, file, values, field, message) => {
    const error = refusal(() => complete(file, values));
    expect(error.toJSON()).toMatchObject({ code: "VALIDATION_ERROR", field });
    expect(error.message).toMatch(message);
  });

  it("RG-1 a value cannot make the address a private one", () => {
    const values = { tenant: "a", api_key: "x" };
    const document = {
      name: "a/b",
      version: "1.0.0",
      remotes: [{ type: "sse", url: "https://{host}/mcp", variables: { host: {} } }],
    };
    const record = readServerJson(document);
    const { offer } = chooseDraft(record, draftsOf(record, "company", new Set(OFFER_KINDS)), undefined);
    const request = { record, registry: "company", offer, name: "it", secretName: (name: string) => name };
    expect(() => completeDraft({ ...request, values: { host: "127.0.0.1" } })).toThrow(/is this machine/);
    expect(() => completeDraft({ ...request, values: { host: "mcp.example.com" } })).not.toThrow();
    expect(values.tenant).toBe("a");
  });
});
