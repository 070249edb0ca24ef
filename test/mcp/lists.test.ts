// The hub's lists must be readable for every client, whatever its servers send: a server with `"description": null` must not hide
// the tools of all others. Read with the official client libraries.

import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { clientOf } from "../support/client.ts";
import { fixture, makeHome, plugboard, startHub, type Home, type RunningHub } from "../support/hub.ts";
import { connect } from "../support/rpc.ts";
import {
  connectV2,
  INSTALL_PYTHON,
  readWithPython,
  testPython,
  TYPESCRIPT_READERS,
  type SdkReader,
} from "../support/sdk-readers.ts";

const OBJECT = { type: "object" };
/** Invalid values of optional members. */
const WRONG = [5, null, "x", [], {}, true, [5], [null], [{}]];

const named = (prefix: string, variants: readonly object[]) =>
  variants.map((variant, index) => ({ name: `${prefix}${index}`, ...variant }));

const TOOLS = [
  ...named("schema", [
    {},
    ...[null, "x", {}, { type: "string" }, [], true].map((inputSchema) => ({ inputSchema })),
    ...WRONG.map((required) => ({ inputSchema: { ...OBJECT, required } })),
    ...WRONG.map((properties) => ({ inputSchema: { ...OBJECT, properties } })),
    ...WRONG.map((a) => ({ inputSchema: { ...OBJECT, properties: { a } } })),
    ...WRONG.map(($schema) => ({ inputSchema: { ...OBJECT, $schema } })),
  ]),
  ...["description", "title", "annotations", "icons", "_meta", "execution", "outputSchema"].flatMap((member) =>
    named(
      `member${member}-`,
      WRONG.map((value) => ({ inputSchema: OBJECT, [member]: value })),
    ),
  ),
  ...["title", "readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"].flatMap((hint) =>
    named(
      `hint-${hint}-`,
      WRONG.map((value) => ({ inputSchema: OBJECT, annotations: { [hint]: value } })),
    ),
  ),
  ...named(
    "task-",
    WRONG.map((taskSupport) => ({ inputSchema: OBJECT, execution: { taskSupport } })),
  ),
  ...["src", "mimeType", "sizes", "theme"].flatMap((member) =>
    named(
      `icon-${member}-`,
      WRONG.map((value) => ({ inputSchema: OBJECT, icons: [{ src: "a", [member]: value }] })),
    ),
  ),
  ...["required", "properties", "type", "$schema"].flatMap((member) =>
    named(
      `output-${member.slice(1)}-`,
      WRONG.map((value) => ({ inputSchema: OBJECT, outputSchema: { ...OBJECT, [member]: value } })),
    ),
  ),
  ...named("output", [
    { outputSchema: { ...OBJECT, properties: { a: { type: "strng" }, b: true } } },
    { outputSchema: { ...OBJECT, properties: { a: { $ref: "#/$defs/gone" } } } },
    { outputSchema: { ...OBJECT, properties: { a: { type: "string", pattern: "(" } } } },
    { outputSchema: { ...OBJECT, properties: { a: false } } },
  ]).map((tool) => ({ ...tool, inputSchema: OBJECT })),
  { name: "half-pair", inputSchema: OBJECT, description: "\ud800 alone" },
  { inputSchema: OBJECT },
  { name: "x".repeat(129), inputSchema: OBJECT },
  ...WRONG.map((name) => ({ name, inputSchema: OBJECT })),
  ...WRONG,
];

const ANNOTATIONS = ["audience", "priority", "lastModified"];

const described = (key: string, of: (n: number) => string, members: readonly string[]) => {
  let n = 0;
  const entry = (more: object) => ({ name: "n", [key]: of(n++), ...more });
  return [
    ...members.flatMap((member) => WRONG.map((value) => entry({ [member]: value }))),
    ...(members.includes("annotations") ? ANNOTATIONS : []).flatMap((member) =>
      [...WRONG, -1, "2025-01-12", ["robot"]].map((value) => entry({ annotations: { [member]: value } })),
    ),
    ...WRONG,
    ...WRONG.map((value) => ({ [key]: value, name: "n" })),
  ];
};
const COMMON = ["description", "title", "icons", "_meta"];

const OFFER = {
  tools: TOOLS,
  resources: [
    ...described("uri", (n) => `weird:${n}`, ["name", "mimeType", "size", "annotations", ...COMMON]),
    { uri: "no uri at all", name: "relative" },
  ],
  resourceTemplates: described("uriTemplate", (n) => `weird:${n}/{x}`, ["name", "mimeType", "annotations", ...COMMON]),
  prompts: [
    ...described("name", (n) => `p${n}`, ["arguments", ...COMMON]),
    ...["name", "description", "required", "title"].flatMap((member) =>
      named(
        `argument-${member}-`,
        WRONG.map((value) => ({ arguments: [{ name: "a", [member]: value }] })),
      ),
    ),
    { name: "nameless-argument", arguments: [{ description: "no name" }] },
  ],
};

/** Entries that cannot be repaired. */
const OMITTED = ["schema2", "schema4", "schema5"];

describe("CL-4 a faulty server beside a good one", () => {
  let folder: string;
  let home: Home;
  let hub: RunningHub;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "plugboard-lists-"));
    await writeFile(join(folder, "weird.json"), JSON.stringify(OFFER));
    home = await makeHome({ good: fixture("echo"), weird: fixture("lists", join(folder, "weird.json")) });
    hub = await startHub(home);
  });

  afterAll(async () => {
    await hub?.stop();
    await home?.remove();
    await rm(folder, { recursive: true, force: true });
  });

  const readers: readonly SdkReader[] = [...TYPESCRIPT_READERS, ["Python SDK", (url) => readWithPython(url)]];

  it.for(readers)("%s reads every list", async ([name, read], { skip }) => {
    if (name === "Python SDK" && testPython() === undefined) skip(`to have it: ${INSTALL_PYTHON}`);
    const { tools, prompts, resources, templates } = await read(`${hub.url}/mcp`);
    expect(tools).toContain("good__echo");
    const expected = textsOf(TOOLS, "name").filter((tool) => tool.length <= 128 && !OMITTED.includes(tool));
    expect(tools.filter((tool) => tool.startsWith("weird__"))).toEqual(expected.map((tool) => `weird__${tool}`));
    expect(resources.filter((uri) => uri.startsWith("weird:"))).toEqual(textsOf(OFFER.resources, "uri", "weird:"));
    expect(resources.map((uri) => decodeURI(uri))).toContain("plugboard://weird/no uri at all");
    expect(templates.filter((uri) => uri.startsWith("weird:"))).toEqual(
      textsOf(OFFER.resourceTemplates, "uriTemplate", "weird:"),
    );
    expect(prompts).toEqual(expect.arrayContaining(["weird__p0", "weird__nameless-argument"]));
  });

  it("CL-4 a clean entry keeps its bytes beside the others", async () => {
    const client = await connect(`${hub.url}/mcp`);
    const { tools } = (await client.request("tools/list")).result as { tools: Record<string, unknown>[] };
    const echo = tools.find(({ name }) => name === "good__echo");
    expect(echo).toMatchObject({ description: "The tool echo", inputSchema: { type: "object" } });
    expect(tools.find(({ name }) => name === "weird__memberdescription-1")).toEqual({
      name: "weird__memberdescription-1",
      inputSchema: OBJECT,
    });
  });

  it("CL-4 repaired and omitted entries are reported once in the API, the CLI and the log", async () => {
    const { warnings } = await (await clientOf(hub)).servers.get("weird");
    expect(warnings).toEqual(
      expect.arrayContaining([
        'Tool "schema0": inputSchema is missing, treated as {"type":"object"}',
        'Tool "schema4" not listed: the type of its inputSchema is "string"',
        expect.stringMatching(/^Tool "x{60}…" not listed: its name has 129 characters \(at most 128 are allowed\)$/),
        'Tool "schema2" not listed: its inputSchema is a text',
      ]),
    );
    expect(warnings.length).toBeLessThanOrEqual(50);
    expect((await (await clientOf(hub)).servers.get("good")).warnings).toEqual([]);
    const get = await plugboard(home, ["get", "weird"]);
    expect(get.stdout).toContain('warning  Tool "schema0": inputSchema is missing');
    const doctor = await plugboard(home, ["doctor"]);
    expect(doctor.stdout).toMatch(/weird: Tool .* \(and \d+ more warnings\)/);
    const ls = await plugboard(home, ["ls"]);
    expect(ls.stdout).toMatch(/weird .*warnings: plugboard get weird/);
    const log = hub
      .stderr()
      .split("\n")
      .filter((line) => line.includes('"schema0"'));
    expect(log).toHaveLength(1);
  });
});

describe("servers of other revisions", () => {
  let folder: string;
  let home: Home;
  let hub: RunningHub;
  const file = (name: string) => join(folder, `${name}.json`);
  const write = (name: string, offer: object) => writeFile(file(name), JSON.stringify(offer));
  const noNetwork = { error: { code: -32603, message: "no network" } };
  const tool = (name: string, more: object = {}) => ({ name, inputSchema: OBJECT, ...more });

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "plugboard-lists-"));
    const results = { object: { toolResult: { a: 1 } }, text: { toolResult: "done" }, nothing: {} };
    await write("old", { tools: Object.keys(results).map((name) => tool(name)), results });
    await write("partial", { tools: [tool("a")], prompts: noNetwork });
    await write("dead", { tools: noNetwork });
    await write("hidden", { tools: [tool("sly", { description: "Adds\u202enumbers\u{e0041}" }), tool("検索")] });
    home = await makeHome({
      old: fixture("lists", file("old")),
      partial: fixture("lists", file("partial"), "--live"),
      dead: fixture("lists", file("dead"), "--live"),
      hidden: fixture("lists", file("hidden")),
    });
    hub = await startHub(home);
  });

  afterAll(async () => {
    await hub?.stop();
    await home?.remove();
    await rm(folder, { recursive: true, force: true });
  });

  it.each(["legacy", "modern"] as const)("a result with only toolResult gets content: SDK v2, %s", async (mode) => {
    const client = await connectV2(`${hub.url}/mcp`, mode);
    const call = (name: string) => client.callTool({ name: `old__${name}` });
    expect(await call("object")).toMatchObject({
      content: [{ type: "text", text: '{"a":1}' }],
      structuredContent: { a: 1 },
      toolResult: { a: 1 },
    });
    expect(await call("text")).toMatchObject({ content: [{ type: "text", text: "done" }] });
    expect(await call("nothing")).toMatchObject({ content: [] });
    await client.close();
  });

  it("a list that fails is a warning, and is retried", async () => {
    const api = await clientOf(hub);
    expect(await api.servers.get("partial")).toMatchObject({
      status: "running",
      warnings: ["prompts/list fails, so none are listed: no network"],
    });
    await write("partial", { tools: [tool("a")], prompts: [{ name: "p" }] });
    const client = await connect(`${hub.url}/mcp`);
    const prompts = async () => (await client.request("prompts/list")).result.prompts as { name: string }[];
    await expect.poll(() => prompts()).toEqual([{ name: "partial__p" }]);
    expect((await api.servers.get("partial")).warnings).toEqual([]);
  });

  it("a server whose tools cannot be listed has failed with the reason, and is retried", async () => {
    const api = await clientOf(hub);
    const failed = { message: "The server answered tools/list with an error", detail: "no network" };
    await expect.poll(() => api.servers.get("dead")).toMatchObject({ status: "error", error: failed });
    const get = await plugboard(home, ["get", "dead"]);
    expect(get.stdout).toMatch(/tools\/list with an error[^]*no network/);
    await write("dead", { tools: [tool("b")] });
    const client = await connect(`${hub.url}/mcp`);
    const names = async () =>
      ((await client.request("tools/list")).result.tools as { name: string }[]).map(({ name }) => name);
    await expect.poll(() => names()).toContain("dead__b");
  });

  it("T29 invisible text causes a warning, and is visible in the terminal", async () => {
    const api = await clientOf(hub);
    expect((await api.servers.get("hidden")).warnings).toEqual(['Tool "sly" has invisible text: U+202E U+E0041']);
    const tools = await plugboard(home, ["tools", "hidden"]);
    expect(tools.stdout).toContain(String.raw`Adds\u202enumbers\u{e0041}`);
    expect(tools.stdout).not.toContain("\u202e");
  });

  it("a call with a name that is too long names the limit", async () => {
    const api = await clientOf(hub);
    const call = api.callTool({ server: "old", tool: "t".repeat(129), arguments: {} });
    await expect(call).rejects.toMatchObject({
      code: "VALIDATION_ERROR",
      message: "A tool name has at most 128 characters, and this one has 129",
    });
  });

  it("an old name resolves, an unknown one suggests the closest in the message", async () => {
    const client = await connect(`${hub.url}/mcp`);
    const call = (name: string) => client.request("tools/call", { name, arguments: {} });
    expect((await call("text")).result).toMatchObject({ content: [{ type: "text", text: "done" }] });
    expect((await call("old__txet")).error.message).toBe(
      'Tool not found (Group "default" has no tool "old__txet"). Did you mean old__text?',
    );
  });
});

/** The values of a key in the entries, if they are texts with this prefix. */
function textsOf(entries: readonly unknown[], key: string, beginning = ""): string[] {
  const values = entries.map((entry) => (entry as Record<string, unknown> | null)?.[key]);
  return values.filter((value): value is string => typeof value === "string" && value.startsWith(beginning));
}
