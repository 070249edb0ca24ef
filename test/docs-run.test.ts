// Every example of README.md, docs/ and examples/ is run as a reader would run it, in the order of the document, and must do what the
// document shows. A comment above a block says why it cannot be run; a block of an unknown kind fails.
//
//   sh        commands that must succeed
//   console   `$ command` and its output
//   ts        a program: it must type-check, and print the `text` block below it
//   json(c)   a config file that `plugboard config validate` accepts
//
// Notes above a block: `not run: why`, `run while: command` (in another terminal), `run with --option: why`, `file: NAME` for a file of
// another program that the next commands read.

import { readdirSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parseConsole, readBlocks, type Block } from "./support/markdown.ts";
import { processesWithMark, seesTags } from "./support/processes.ts";
import { openDocumentedLogins } from "./support/oauth/documented-logins.ts";
import { Reader, type ReaderOptions } from "./support/reader.ts";
import { requireShown } from "./support/shown.ts";
import { toJavaScript, typeErrors } from "./support/typescript.ts";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const PAGES = readdirSync(join(ROOT, "docs"), { recursive: true, encoding: "utf8" })
  .filter((name) => name.endsWith(".md"))
  .toSorted();
const DOCUMENTS = ["README.md", "examples/README.md", ...PAGES.map((name) => `docs/${name}`)];

/** The requirements that a document proves. */
const PROVES: Readonly<Record<string, string>> = {
  "docs/config.md": "CF-1 CF-2 CF-6",
  "docs/library.md": "MG-2 CL-8",
  "examples/README.md": "MG-2 CL-8 CH-12",
  "docs/api.md": "MG-1 MG-3 RS-7",
  "docs/groups.md": "GR-1",
  "docs/chat.md": "CH-12",
  "docs/clients.md": "CF-11",
  "docs/login.md": "AU-1",
  "docs/migrate/1mcp.md": "CF-11",
  "docs/migrate/mcp-proxy.md": "CF-11",
  "docs/migrate/mcphub.md": "CF-11",
  "docs/migrate/mcpproxy-go.md": "CF-11",
  "docs/migrate/metamcp.md": "CF-11",
  "docs/migrate/supergateway.md": "CF-11",
  "docs/access.md": "AU-3",
  "docs/registry.md": "RG-1",
};

/** Blocks that are not run, with the reason. The list makes each exception explicit. */
const NOT_RUN = [
  "README.md: `npm ci` would replace the packages that the tests are using; `npm start` is run below",
  "README.md: it needs a certificate for a public name; test/network/tls.test.ts does the same with one of its own",
  "README.md: it needs the hub above",
  "README.md: it fetches a base image; test/packages/packages.test.ts runs the image on a base of its own",
  "docs/access.md: it is not one of the files that `config validate` reads; test/auth/access-tokens.test.ts starts a hub with it",
  "docs/access.md: it is not one of the files that `config validate` reads; test/auth/issuer.test.ts starts a hub with it",
  "docs/access.md: needs auth.server in hub.json; test/auth/programs.test.ts does the same by the API",
  "docs/access.md: it is not one of the files that `config validate` reads; test/auth/identity-provider.test.ts starts a hub with such entries",
  "docs/access.md: it is not one of the files that `config validate` reads; test/oauth/keycloak.long.ts uses a real Keycloak like this",
  "docs/access.md: it is not one of the files that `config validate` reads; hub/src/config/parse/issuers.test.ts checks it",
  "docs/access.md: it is not one of the files that `config validate` reads; hub/src/config/parse/issuers.test.ts checks it",
  "docs/access.md: it is not one of the files that `config validate` reads; test/auth/limits.test.ts starts a hub with it",
  "docs/access.md: it is not one of the files that `config validate` reads; test/auth/users.test.ts starts a hub with it",
  "docs/access.md: the provider is an example; test/auth/sso.test.ts signs in by a real one",
  "docs/access.md: the hash is of another log; test/auth/users.test.ts runs it",
  "docs/access.md: it is not one of the files that `config validate` reads; test/network/tls.test.ts starts a hub with it",
  "docs/access.md: it is not one of the files that `config validate` reads; test/network/tls.test.ts has one like it",
  "docs/access.md: it is the configuration of another program; test/network/proxies.test.ts runs Caddy with it",
  "docs/access.md: it is the configuration of another program; test/network/proxies.test.ts runs nginx with it",
  "docs/chat.md: it is the chat server's own file; test/chat/safety.test.ts has one like it",
  "docs/login.md: needs a second person at the authorization server",
  "docs/migrate/metamcp.md: it needs the database of MetaMCP; hub/src/client-configs/products/products.test.ts imports such a file",
  "docs/scale.md: it needs PostgreSQL; test/cluster/replicas.test.ts does the same",
  "docs/registry.md: it is not one of the files that `config validate` reads; test/registry/registries.test.ts uses such entries",
  "docs/registry.md: it needs the registry; test/registry/source-only.test.ts does the same with one of its own",
  "docs/registry.md: it needs the secret; test/registry/add.test.ts sends one like it",
  "docs/stability.md: it needs the program sqlite3; test/packages/project-files.test.ts reads the view",
  "docs/telemetry.md: it needs a collector, and runs until it is stopped; test/calls/traces.test.ts does that",
];

type World = ReaderOptions & { readonly close: () => Promise<void> };

/** What the examples of a document talk to. */
const WORLDS: Readonly<Record<string, () => Promise<World>>> = { "docs/login.md": openDocumentedLogins };

/** The file name of a program of a document. */
const programOf = (block: Block) => `example-${block.at.replaceAll(/\W/g, "-")}`;

type Run = (reader: Reader, block: Block, next: Block | undefined) => Promise<void>;

const RUN: Readonly<Record<string, Run>> = {
  sh: async (reader, { text, note = "" }) => {
    const [, options = ""] = /^run with (--.*?): /.exec(note) ?? [];
    for (const command of commandsOf(text)) {
      const { code, output } = await reader.type(command.replace(/(?=\s+#|$)/, options === "" ? "" : ` ${options}`));
      expect([command, code, code === 0 ? "" : output]).toEqual([command, 0, ""]);
    }
  },

  console: async (reader, { text, note = "" }) => {
    const [, beside] = /^run while: (.*)$/.exec(note) ?? [];
    const stop = beside === undefined ? undefined : await reader.beside(beside);
    try {
      const steps = parseConsole(text);
      for (const [index, { command, output }] of steps.entries()) {
        const printed = await reader.type(command);
        requireShown(printed.output, output);
        // A command that fails is followed by `echo $?`.
        if (steps[index + 1]?.command !== "echo $?") expect([command, printed.code]).toEqual([command, 0]);
      }
    } finally {
      await stop?.();
    }
  },

  ts: async (reader, block, next) => {
    expect(next?.language, "what it prints stands below it").toBe("text");
    const file = `${programOf(block)}.mjs`;
    await writeFile(join(reader.folder, file), toJavaScript(reader.localized(block.text)));
    const { code, output } = await reader.type(`node ${file}`);
    expect({ code, output }).toEqual({ code: 0, output: next?.text.trimEnd() });
  },

  // The output of the program above it.
  text: async () => {},
  /** A diagram. */
  txt: async () => {},

  json: validates,
  jsonc: validates,
};

async function validates(reader: Reader, { text, note = "" }: Block): Promise<void> {
  const [, file] = /^file: (.+)$/.exec(note) ?? [];
  if (file !== undefined) return writeFile(join(reader.folder, file), text);
  await writeFile(join(reader.folder, "example.json"), text);
  const { code, output } = await reader.type("plugboard config validate example.json");
  expect({ code, output }).toEqual({ code: 0, output: expect.stringMatching(/^Valid: (?!0 servers?, 0 groups)/) });
}

function commandsOf(text: string): string[] {
  return text.trimEnd().split(/(?<!\\)\n/);
}

describe.each(DOCUMENTS)("%s", (path) => {
  const blocks = readBlocks(ROOT, path);
  const run = blocks.filter(({ note }) => whyNot(note) === undefined);
  let reader: Reader;

  let world: World | undefined;

  beforeAll(async () => {
    world = await WORLDS[path]?.();
    reader = await Reader.open(world);
  });

  afterAll(async () => {
    await reader?.close();
    await world?.close();
    if (seesTags) expect(processesWithMark(reader.mark)).toEqual([]);
  });

  it.each(run.map((block) => [nameOf(path, block), block] as const))("%s", async (_, block) => {
    expect(Object.keys(RUN), "somebody must know how to run it").toContain(block.language);
    if (block.language === "text") expect(blocks[blocks.indexOf(block) - 1]?.language).toBe("ts");
    await RUN[block.language]?.(reader, block, blocks[blocks.indexOf(block) + 1]);
  });

  it("only the listed blocks are not run", () => {
    const reasons = blocks.flatMap(({ note }) => whyNot(note) ?? []).map((reason) => `${path}: ${reason}`);
    expect(reasons).toEqual(NOT_RUN.filter((each) => each.startsWith(`${path}:`)));
  });
});

it("all programs of all documents type-check", async () => {
  const reader = await Reader.open();
  const programs = DOCUMENTS.flatMap((path) => readBlocks(ROOT, path)).filter(({ language }) => language === "ts");
  const files = programs.map((block) => join(reader.folder, `${programOf(block)}.mts`));
  for (const [index, { text }] of programs.entries()) await writeFile(files[index] ?? "", text);
  expect(files.length).toBeGreaterThan(3);
  expect(typeErrors(files)).toEqual([]);
  await reader.close();
});

function whyNot(note: string | undefined): string | undefined {
  return /^not run: (.+)$/.exec(note ?? "")?.[1];
}

function nameOf(path: string, { at, language }: Block): string {
  return [PROVES[path], at, language].filter((part) => part !== undefined).join(" ");
}

describe("the type check finds an invalid example", () => {
  it.each([
    ["a b", "a c"],
    ["one\ntwo", "one"],
    ["one", "one\ntwo"],
    ["one\ntwo", "two"],
    ["1 tool", "2 tools"],
    ["pid x", "pid 4711"],
    ['{"a":1}', '{"a":2}'],
    ['{"a":1,"b":2}', '{"a":1}'],
    ['{"a":"x"}', '{"a":"y…"}'],
  ])("%j is not %j", (actual, shown) => {
    expect(() => requireShown(actual, shown)).toThrow("but the document shows");
  });

  it.each([
    ["took 12ms, pid 7", "took 3.5s,  pid 4711"],
    ["one\ntwo\nthree", "one\n…\nthree"],
    ["at 10:00:00 in x", "at 09:30:12 in …"],
    ['{"a":1,"took_ms":5,"id":"abc"}', '{ "id": "…", "a": 1, "took_ms": 7 }'],
  ])("%j is %j", (actual, shown) => {
    expect(() => requireShown(actual, shown)).not.toThrow();
  });
});
