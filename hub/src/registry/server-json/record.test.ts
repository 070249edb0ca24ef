// Which server.json files give a server that can be added, and why others do not. Each schema is read, in both spellings.

import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { HubError } from "../../errors.ts";
import { chooseDraft, draftsOf } from "../draft/draft.ts";
import { OFFER_KINDS } from "../model.ts";
import { readServerJson } from "./record.ts";

const ALL = new Set(OFFER_KINDS);
const sample = (file: string): unknown =>
  JSON.parse(readFileSync(new URL(`../../../../test/fixtures/server-json/${file}`, import.meta.url), "utf8"));

/** The best draft, as it would be run. */
function drafted(document: unknown, kind?: (typeof OFFER_KINDS)[number]) {
  const record = readServerJson(document);
  const { entry, inputs, warnings } = chooseDraft(record, draftsOf(record, "company", ALL), kind);
  const { name: _, description: __, source: ___, ...launch } = entry;
  return { launch, inputs, warnings };
}

const npm = (fields: object = {}) => ({
  registryType: "npm",
  identifier: "@example/x",
  version: "1.0.0",
  transport: { type: "stdio" },
  ...fields,
});
const server = (fields: object) => ({ name: "io.example/x", version: "1.0.0", ...fields });
const withPackage = (fields: object) => server({ packages: [npm(fields)] });
const withRemote = (fields: object) => server({ remotes: [{ type: "streamable-http", ...fields }] });

describe("RG-1 every schema of server.json", () => {
  it.each([
    [
      "draft-snake-case.json",
      {
        command: "npx",
        args: ["-y", "@example/weather@0.3.1", "--units", "metric"],
        env: { WEATHER_KEY: { secretRef: "WEATHER_KEY", isSecret: true, required: true } },
      },
    ],
    [
      "2025-07-09.json",
      {
        command: "docker",
        args: ["run", "--rm", "-i", "-v", "<folder>:/work", "example/sandbox:v0.1.6"],
        env: { SANDBOX_TOKEN: { secretRef: "SANDBOX_TOKEN", isSecret: true, required: true } },
      },
    ],
    [
      "2025-09-29.json",
      {
        command: "uvx",
        args: ["--python", "3.12", "pager-mcp==0.2.1", "--write", "serve"],
        env: {
          PAGER_API_KEY: { secretRef: "PAGER_API_KEY", isSecret: true, required: true },
          PAGER_HOST: "https://pager.example.com",
          PAGER_RETRIES: "3",
        },
      },
    ],
    [
      "2025-10-17.json",
      {
        type: "http",
        url: "https://eu.tenants.example.com/mcp/<tenant>",
        headers: { Authorization: "Bearer ${API_KEY}" },
        env: { API_KEY: { secretRef: "API_KEY", isSecret: true, required: true } },
      },
    ],
    ["2025-12-11.json", { command: "npx", args: ["-y", "@example/many@3.0.0", "<folder>"] }],
  ])("RG-1 %s", (file, launch) => expect(drafted(sample(file)).launch).toEqual(launch));

  it("RG-1 keeps the state of the registry's answer, and says that a server is deprecated", () => {
    const record = readServerJson(sample("2025-10-17.json"));
    expect(record).toMatchObject({ state: "deprecated", version: "2.1.0", updatedAt: "2026-01-02T03:04:05Z" });
    expect(drafted(sample("2025-10-17.json")).warnings).toContain(
      "com.example/tenants is deprecated: its author advises against it",
    );
  });

  it("RG-1 prefers npm, then pypi, oci and an address; a kind that is not installed comes last", () => {
    const record = readServerJson(sample("2025-12-11.json"));
    const kinds = (runnable: readonly (typeof OFFER_KINDS)[number][]) =>
      draftsOf(record, "company", new Set(runnable)).drafts.map(({ kind }) => kind);
    expect(kinds(OFFER_KINDS)).toEqual(["npm", "pypi", "oci", "remote"]);
    expect(kinds(["npm", "remote"])).toEqual(["npm", "remote", "pypi", "oci"]);
    expect(chooseDraft(record, draftsOf(record, "company", ALL), "oci").entry["command"]).toBe("docker");
    expect(draftsOf(record, "company", ALL).unusable.map(({ kind }) => kind)).toEqual(["mcpb", "nuget", "oci", "npm"]);
  });

  it("RG-1 inputs have what the user must know", () => {
    expect(drafted(sample("2025-10-17.json")).inputs).toEqual([
      { name: "region", isRequired: true, isSecret: false, default: "eu", choices: ["eu", "us"], format: "string" },
      { name: "tenant", description: "Your tenant", isRequired: true, isSecret: false, format: "string" },
      { name: "api_key", isRequired: true, isSecret: true, format: "string" },
      { name: "X-Team", description: "Optional", isRequired: false, isSecret: false, format: "string" },
    ]);
    const [key] = drafted(withPackage({ environmentVariables: [{ name: "ACME_TOKEN" }] })).inputs;
    expect(key, "a name that means a credential").toMatchObject({ isSecret: true, isRequired: false });
  });
});

describe("RG-1 SE-5 stated reasons", () => {
  it.each<[what: string, document: unknown, reason: RegExp]>([
    ["a flag as the package", withPackage({ identifier: "--call=id" }), /not a valid npm package/],
    ["a URL as the package", withPackage({ identifier: "https://evil.example/x.tgz" }), /not a valid npm package/],
    ["a folder as the package", withPackage({ identifier: "../../x" }), /not a valid npm package/],
    ["shell words in the package", withPackage({ identifier: "x; id" }), /not a valid npm package/],
    ["the version latest", withPackage({ version: "latest" }), /"latest" is not an exact version/],
    ["a range", withPackage({ version: "^1.0.0" }), /not an exact version/],
    ["a range of PyPI", withPackage({ registryType: "pypi", identifier: "x", version: ">=1" }), /placeholder|exact/],
    ["two versions", withPackage({ identifier: "x@1.0.0", version: "2.0.0" }), /identifier says version 1.0.0/],
    ["a tag that moves", withPackage({ registryType: "oci", identifier: "e/x:latest" }), /"latest" of its image moves/],
    ["a placeholder", withPackage({ version: "{{VERSION}}" }), /placeholder/],
    ["a package that listens", withPackage({ transport: { type: "sse", url: "http://x" } }), /listens at an address/],
    ["NuGet", withPackage({ registryType: "nuget" }), /NuGet/],
    ["a bundle", withPackage({ registryType: "mcpb" }), /bundles/],
    ["an unknown kind", withPackage({ registryType: "brew" }), /kind "brew"/],
    ["a text where a package belongs", server({ packages: ["npx evil"] }), /packages\[0\] must be an object/],
    ["a text where variables belong", withPackage({ environmentVariables: "KEY" }), /must be a list/],
    ["a text where a variable belongs", withPackage({ environmentVariables: ["KEY"] }), /must be an object/],
    [
      "an object where a text belongs",
      withPackage({ environmentVariables: [{ name: "K", value: {} }] }),
      /must be text/,
    ],
    [
      "a variable that loads code",
      withPackage({ environmentVariables: [{ name: "NODE_OPTIONS", value: "-r x" }] }),
      /NODE_OPTIONS/,
    ],
    [
      "a variable of this machine",
      withPackage({ environmentVariables: [{ name: "A", value: "${AWS_SECRET_ACCESS_KEY}" }] }),
      /AWS_SECRET_ACCESS_KEY of this machine/,
    ],
    ["an argument of this machine", withPackage({ packageArguments: [{ value: "${GITHUB_TOKEN}" }] }), /GITHUB_TOKEN/],
    [
      "an option that makes npx run a shell",
      withPackage({ runtimeArguments: [{ type: "named", name: "-c", value: "id" }] }),
      /"-c" of npx is not allowed/,
    ],
    [
      "an option that takes packages from elsewhere",
      withPackage({ runtimeArguments: [{ type: "named", name: "--registry", value: "https://evil.example" }] }),
      /"--registry" of npx/,
    ],
    [
      "an index of its own",
      withPackage({
        registryType: "pypi",
        identifier: "x",
        runtimeArguments: [{ type: "named", name: "--index-url", value: "https://evil.example" }],
      }),
      /"--index-url" of uvx/,
    ],
    [
      "full rights for a container",
      withPackage({
        registryType: "oci",
        identifier: "e/x:1.0.0",
        runtimeArguments: [{ type: "named", name: "--privileged", value: "true", format: "boolean" }],
      }),
      /full control of the host/,
    ],
    [
      "the host's folders",
      withPackage({
        registryType: "oci",
        identifier: "e/x:1.0.0",
        runtimeArguments: [{ type: "named", name: "-v", value: "/:/host" }],
      }),
      /access to the host/,
    ],
    [
      "101 inputs",
      withPackage({ environmentVariables: Array.from({ length: 101 }, (_, n) => ({ name: `V${n}` })) }),
      /more than 100/,
    ],
    ["a very long argument", withPackage({ packageArguments: [{ value: "x".repeat(600) }] }), /longer than 512/],
    ["an address of this machine", withRemote({ url: "http://127.0.0.1:7331/mcp" }), /is this machine/],
    ["localhost", withRemote({ url: "https://localhost/mcp" }), /is this machine/],
    ["this machine as a number", withRemote({ url: "https://2130706433/" }), /is this machine/],
    ["this machine in IPv6", withRemote({ url: "https://[::ffff:127.0.0.1]/" }), /is this machine/],
    ["a private address", withRemote({ url: "https://10.1.2.3/mcp" }), /not a public one/],
    ["credentials of a cloud", withRemote({ url: "https://169.254.169.254/" }), /not a public one/],
    ["a private name", withRemote({ url: "https://intranet/mcp" }), /private network/],
    ["a name of the local network", withRemote({ url: "https://nas.local/mcp" }), /private network/],
    ["an address without TLS", withRemote({ url: "http://mcp.example.com" }), /not https/],
    ["another scheme", withRemote({ url: "file:///etc/passwd" }), /not https|private|valid/],
    ["credentials in the address", withRemote({ url: "https://u:p@mcp.example.com" }), /credentials/],
    [
      "an undefined variable",
      withRemote({ url: "https://mcp.example.com/{who}" }),
      /\{who\}, which it does not define/,
    ],
    [
      "a header of the connection",
      withRemote({ url: "https://e.org", headers: [{ name: "Host", value: "x" }] }),
      /belongs to the connection/,
    ],
    [
      "a header with a line break",
      withRemote({ url: "https://e.org", headers: [{ name: "X", value: "a\r\nB: c" }] }),
      /control characters/,
    ],
    ["a transport that does not exist", withRemote({ url: "https://e.org", type: "carrier-pigeon" }), /does not speak/],
    ["nothing to run", server({}), /neither packages nor addresses/],
  ])("RG-1 SE-5 %s", (_what, document, reason) => {
    const record = readServerJson(document);
    const drafts = draftsOf(record, "company", ALL);
    expect(drafts.drafts).toEqual([]);
    expect(drafts.unusable.map((each) => each.reason).join("\n")).toMatch(reason);
    expect(() => chooseDraft(record, drafts, undefined)).toThrow(/io.example\/x cannot be added/);
  });

  it.each<[what: string, document: unknown, reason: RegExp]>([
    ["a list", [], /must be an object/],
    ["a text", "x", /must be an object/],
    ["null", null, /must be an object/],
    ["a client's config", { mcpServers: {} }, /config of a client/],
    ["no name", { packages: [] }, /has no name/],
    ["a template's name", { name: "io.github.<you>/<repo>" }, /not the name of a server/],
    ["a name with a line break", { name: "a/b\nc" }, /not the name of a server/],
    ["a very long name", { name: "x".repeat(300) }, /longer than 256/],
    ["packages as an object", { name: "a/b", packages: {} }, /packages must be a list/],
    ["a thousand packages", { name: "a/b", packages: Array.from({ length: 1000 }, () => ({})) }, /more than 50/],
  ])("RG-1 SE-5 %s is no server at all", (_what, document, reason) => {
    expect(() => readServerJson(document)).toThrow(reason);
    expect(() => readServerJson(document)).toThrow(HubError);
  });
});

describe("RG-1 defaults", () => {
  it.each([
    ["one that would read a variable", { default: "${HOME}/x" }, /would read a variable/],
    ["one that is none of the choices", { default: "c", choices: ["a", "b"] }, /none of its choices/],
  ])("RG-1 %s is not used, with a warning", (_what, definition, warning) => {
    const { launch, warnings } = drafted(withPackage({ environmentVariables: [{ name: "A", ...definition }] }));
    expect(launch).not.toHaveProperty("env");
    expect(warnings.join()).toMatch(warning);
  });

  it("RG-1 the default of a secret is never used", () => {
    const { launch } = drafted(withPackage({ environmentVariables: [{ name: "A", isSecret: true, default: "x" }] }));
    expect(launch).not.toHaveProperty("env");
  });
});
