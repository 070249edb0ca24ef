// GR-6 and T28 over 20,000 random catalogues with hostile names, different in every run.
import { describe, expect, it } from "vitest";
import type { ServerConfig } from "../config/schema/types.ts";
import { Catalog } from "./catalog.ts";
import type { ExposedTool, Group } from "./group.ts";
import type { ServerListing } from "./listing.ts";
import { scaled, testSeed } from "../../../test/support/scale.ts";

const BATCHES = 10;
const ROUNDS = Math.ceil(scaled(20_000, 1_000_000) / BATCHES);
const seed = testSeed();

const LEGAL = /^[A-Za-z0-9_-]{1,64}$/;
// Parts that collide when joined.
const SERVER_PIECES = ["a", "b", "A", "_", "__", "-", "--", "a__b", "abcdefgh", "7", "s".repeat(30)];
const TOOL_PIECES = [
  ...SERVER_PIECES,
  ..."c|--abcdefgh|--22222222|.|/|:|a:b| |日本|🜁|\ud800|\udfff|\u0000|\n|__proto__|constructor|toString".split("|"),
  "",
  "t".repeat(60),
  "x".repeat(300),
  `--${"abcdefgh".repeat(4)}`,
];

interface Draft {
  readonly name: string;
  readonly enabled: boolean;
  readonly tools: readonly string[];
  /** undefined: the server has never run. */
  readonly available: boolean | undefined;
}

describe(`names of random catalogues, seed ${seed}`, () => {
  it.each(Array.from({ length: BATCHES }, (_, batch) => batch))("GR-6 T28 batch %i", (batch) => {
    expect(firstProblem(batch)).toBeUndefined();
  });
});

function firstProblem(batch: number): string | undefined {
  const random = createRandom(seed + batch);
  for (let round = 0; round < ROUNDS; round++) {
    const problem = check(drawServers(random, 2 + Math.floor(random() * 2)), random);
    if (problem !== undefined) return `seed ${seed}, batch ${batch}, round ${round}: ${problem}`;
  }
  return undefined;
}

function check(drafts: readonly Draft[], random: () => number): string | undefined {
  const before = build(drafts).group();
  const variation = vary(drafts, before.tools, random);
  const after = build(variation).group();
  return misled(before, drafts) ?? misled(after, variation) ?? renamed(before.tools, after.tools);
}

/** The first violated rule for the names of these servers, if any. Without expect(), which is too slow here. */
function misled(group: Group, drafts: readonly Draft[]): string | undefined {
  const names = new Set<string>();
  for (const tool of group.tools) {
    if (!LEGAL.test(tool.exposed)) return `${JSON.stringify(tool.exposed)} is not legal`;
    if (names.has(tool.exposed)) return `${tool.exposed} is there twice`;
    names.add(tool.exposed);
    for (const name of [tool.exposed, `${tool.server}:${tool.tool}`]) {
      const found = group.resolveTool(name);
      if (found.server !== tool.server || found.tool !== tool.tool) return `${JSON.stringify(name)} leads astray`;
    }
  }
  const running = drafts.filter((draft) => draft.enabled && draft.available === true);
  const expected = running.flatMap((draft) => [...new Set(draft.tools)].map((tool) => `${draft.name}:${tool}`));
  const listed = group.tools.map((tool) => `${tool.server}:${tool.tool}`);
  if (expected.length !== listed.length || expected.some((key, index) => key !== listed[index])) {
    return `offered ${JSON.stringify(listed)} instead of ${JSON.stringify(expected)}`;
  }
  return undefined;
}

/** The same servers, some stopped, started or disabled, and one added, removed or hostile; still several. */
function vary(drafts: readonly Draft[], tools: readonly ExposedTool[], random: () => number): Draft[] {
  const varied = drafts.map((draft) => ({ ...draft, enabled: random() < 0.8, available: drawAvailable(random) }));
  const where = Math.floor(random() * varied.length);
  const victim = tools[Math.floor(random() * tools.length)];
  const kind = random();
  if (kind < 0.3 && varied.length > 2) varied.splice(where, 1);
  else if (kind < 0.6 || victim === undefined) varied.splice(where, 0, ...drawServers(random, 1, varied));
  else attack(varied, victim, random);
  return varied;
}

/** A server that would be exposed under the victim's name if names were simply joined. */
function attack(drafts: Draft[], { server, tool, exposed }: ExposedTool, random: () => number): void {
  const target = random() < 0.5 ? exposed : `${server}__${tool}`;
  const cuts = Array.from({ length: 64 }, (_, at) => at + 1).filter((at) => target.startsWith("__", at));
  const cut = cuts[Math.floor(random() * cuts.length)];
  if (cut === undefined || !LEGAL.test(target.slice(0, cut))) return;
  const name = target.slice(0, cut);
  const own = target.slice(cut + 2);
  const index = drafts.findIndex((draft) => draft.name === name);
  const base = drafts[index] ?? { name, tools: [] };
  drafts.splice(index === -1 ? 0 : index, index === -1 ? 0 : 1, {
    name,
    enabled: true,
    tools: [own, ...base.tools],
    available: true,
  });
}

function renamed(before: readonly ExposedTool[], after: readonly ExposedTool[]): string | undefined {
  const names = new Map(before.map((tool) => [`${tool.server}:${tool.tool}`, tool.exposed]));
  for (const { server, tool, exposed } of after) {
    const name = names.get(`${server}:${tool}`);
    if (name !== undefined && name !== exposed) return `${name} was renamed to ${exposed}`;
  }
  return undefined;
}

function build(drafts: readonly Draft[]): Catalog {
  const servers = drafts.map(({ name, enabled }) => ({ ...SERVER, id: name, name, enabled }));
  const listings = new Map<string, ServerListing>();
  for (const { name, tools, available } of drafts) {
    if (available === undefined) continue;
    const listing = { tools: tools.map((tool) => ({ name: tool })), prompts: [], resources: [], templates: [] };
    listings.set(name, { listing, available });
  }
  return Catalog.build({ servers, groups: [] }, listings);
}

const SERVER: ServerConfig = {
  id: "",
  name: "",
  enabled: true,
  source: { type: "manual" },
  transport: { type: "http", url: "http://127.0.0.1:1/", headers: {} },
  env: {},
  timeouts: {},
  groups: [],
};

function drawServers(random: () => number, count: number, taken: readonly Draft[] = []): Draft[] {
  const names = new Set<string>();
  const used = new Set(taken.map(({ name }) => name));
  while (names.size < count) {
    const name = drawText(random, SERVER_PIECES).slice(0, 64);
    if (name !== "" && !used.has(name)) names.add(name);
  }
  return [...names].map((name) => ({
    name,
    enabled: random() < 0.9,
    tools: Array.from({ length: random() * 4 }, () => drawText(random, TOOL_PIECES)),
    available: drawAvailable(random),
  }));
}

function drawAvailable(random: () => number): boolean | undefined {
  const drawn = random();
  return drawn < 0.7 ? true : drawn < 0.9 ? false : undefined;
}

function drawText(random: () => number, pieces: readonly string[]): string {
  let text = "";
  for (let left = 1 + Math.floor(random() * 3); left > 0; left--) text += pieces[Math.floor(random() * pieces.length)];
  return text;
}

/** mulberry32: small, fast, and the same everywhere. */
function createRandom(start: number): () => number {
  let state = start;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
