// Real files of registries: each gives an entry that the rules of the config accept, or a stated reason. So does each mutated one.
// The whole sets are not part of this repository: REGISTRY_DATA names their folder. Samples of Docker's catalogue are in test/fixtures.

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { normalizeServer } from "../../hub/src/config/parse/normalize.ts";
import { HubError } from "../../hub/src/errors.ts";
import { readCatalogueEntry } from "../../hub/src/registry/docker/record.ts";
import { parseYaml } from "../../hub/src/registry/docker/yaml.ts";
import { completeDraft, draftsOf } from "../../hub/src/registry/draft/draft.ts";
import { OFFER_KINDS, type Input, type ServerRecord } from "../../hub/src/registry/model.ts";
import { readServerJson } from "../../hub/src/registry/server-json/record.ts";
import { Mutator, randomFrom } from "../support/mutator.ts";
import { scaled, testSeed } from "../support/scale.ts";

const DATA = process.env["REGISTRY_DATA"] ?? "";
const FIXTURES = join(import.meta.dirname, "../fixtures");
const ALL = new Set(OFFER_KINDS);

type Read = (text: string) => Promise<ServerRecord>;
const readJson: Read = async (text) => readServerJson(JSON.parse(text));
const readYaml: Read = async (text) => readCatalogueEntry(await parseYaml(text));

type Outcome = { readonly kind: "draft" } | { readonly kind: "reason"; readonly reason: string };

/** Throws for anything but a draft and a stated reason. */
async function outcomeOf(read: Read, text: string): Promise<Outcome> {
  try {
    const record = await read(text);
    const { drafts, unusable } = draftsOf(record, "company", ALL);
    for (const { offer, inputs } of drafts) {
      const values = Object.fromEntries(inputs.map((input) => [input.name, valueFor(input)]));
      const request = { record, registry: "company", offer, name: "it", values, secretName: (name: string) => name };
      const { entry, secrets } = completeDraft(request);
      normalizeServer(undefined, entry);
      for (const secret of secrets.values()) expect(JSON.stringify(entry)).not.toContain(secret);
    }
    if (drafts.length > 0) return { kind: "draft" };
    expect(unusable.every(({ reason }) => reason !== "")).toBe(true);
    expect(unusable).not.toEqual([]);
    return { kind: "reason", reason: unusable.map((each) => each.reason).join("; ") };
  } catch (thrown) {
    if (thrown instanceof HubError && thrown.code === "VALIDATION_ERROR")
      return { kind: "reason", reason: thrown.message };
    if (thrown instanceof SyntaxError) return { kind: "reason", reason: "not JSON" };
    throw thrown;
  }
}

function valueFor({ isSecret, choices, format, default: fallback }: Input): string {
  if (isSecret) return "c0nfidential-value";
  if (format === "number") return "1";
  if (format === "boolean") return "true";
  return choices?.[0] ?? fallback ?? "value.example";
}

const filesIn = (folder: string, extension: string) =>
  existsSync(folder) ? readdirSync(folder).filter((file) => file.endsWith(extension)) : [];

describe.each([
  { what: "server.json", folder: join(DATA, "registry"), extension: ".json", read: readJson, isSample: false },
  {
    what: "Docker's catalogue",
    folder: join(DATA, "docker-catalogue"),
    extension: ".yaml",
    read: readYaml,
    isSample: false,
  },
  {
    what: "samples of server.json",
    folder: join(FIXTURES, "server-json"),
    extension: ".json",
    read: readJson,
    isSample: true,
  },
  {
    what: "samples of Docker's catalogue",
    folder: join(FIXTURES, "docker-catalogue"),
    extension: ".yaml",
    read: readYaml,
    isSample: true,
  },
])("RG-1 $what", ({ what, folder, extension, read, isSample }) => {
  const files = isSample || DATA !== "" ? filesIn(folder, extension) : [];
  const skipped = files.length === 0 ? " (REGISTRY_DATA must name the folder of the data)" : "";

  it.skipIf(files.length === 0)(`RG-1 each file gives a draft or a stated reason${skipped}`, async () => {
    const outcomes = await Promise.all(
      files.map(async (file) => ({ file, ...(await outcomeOf(read, readFileSync(join(folder, file), "utf8"))) })),
    );
    const reasons = outcomes.filter(({ kind }) => kind === "reason");
    // oxlint-disable-next-line no-console -- the figures
    console.log(
      `${what}: ${files.length} files, ${files.length - reasons.length} drafts, ${reasons.length} stated reasons`,
    );
    expect(outcomes).toHaveLength(files.length);
    expect(reasons.length).toBeLessThan(files.length / 2);
  });

  it.skipIf(files.length === 0)(`RG-1 SE-5 so does each mutated file${skipped}`, async () => {
    const seed = testSeed();
    const corpus = files.map((file) => readFileSync(join(folder, file)));
    const mutator = new Mutator(corpus, randomFrom(seed));
    const random = randomFrom(seed + 1);
    for (let run = 0; run < scaled(300, 20_000); run++) {
      const isStructural = extension === ".json" && run % 2 === 0;
      const text = isStructural
        ? JSON.stringify(withWrongType(JSON.parse(corpus[run % corpus.length]?.toString() ?? ""), random))
        : mutator.next().toString();
      const outcome = outcomeOf(read, text);
      await expect(outcome, `TEST_SEED=${seed}, run ${run}: ${text.slice(0, 2000)}`).resolves.toHaveProperty("kind");
    }
  });
});

const WRONG: readonly unknown[] = [
  null,
  0,
  -1,
  1e300,
  true,
  "",
  "x",
  "--flag",
  "${HOME}",
  "{x}",
  "\u0000",
  "\ud800",
  "a\r\nb",
  "x".repeat(5000),
  [],
  {},
  [null],
  [[]],
  [{}],
  { variables: { x: null } },
  { __proto__: 1 },
  "https://127.0.0.1/",
  "latest",
];

/** The same document with one member of another type or content. */
function withWrongType(value: unknown, random: (below: number) => number): unknown {
  if (typeof value !== "object" || value === null || random(6) === 0) return WRONG[random(WRONG.length)];
  if (Array.isArray(value)) {
    const at = random(value.length + 1);
    return value.length === 0 ? WRONG : value.map((item, index) => (index === at ? withWrongType(item, random) : item));
  }
  const entries = Object.entries(value);
  const at = random(entries.length + 1);
  return Object.fromEntries(
    entries.map(([key, item], index) => [key, index === at ? withWrongType(item, random) : item]),
  );
}
