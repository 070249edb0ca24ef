// What the hub lists must be readable by every client, whatever its servers send: one that writes `"description": null` must
// not take the tools of all others away. The official client libraries are the readers.

import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { HubClient } from "../../hub/src/api/client.ts";
import { readManagementToken } from "../../hub/src/auth/management-token.ts";
import { fixture, makeHome, plugboard, startHub, type Home, type RunningHub } from "../support/hub.ts";
import { connect } from "../support/rpc.ts";
import {
  INSTALL_PYTHON,
  readWithPython,
  testPython,
  TYPESCRIPT_READERS,
  type SdkReader,
} from "../support/sdk-readers.ts";

const OBJECT = { type: "object" };
/** Values that no optional member of an entry may have. */
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

/** What could not be repaired, and no client could call. */
const OMITTED = ["schema2", "schema4", "schema5"];

describe("R6 CL-4 a sloppy server beside a good one", () => {
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

  it("CL-4 what was repaired and what was left out is said in the API, in the CLI and in the log, once", async () => {
    const { warnings } = await (await apiOf(hub)).getServer("weird");
    expect(warnings).toEqual(
      expect.arrayContaining([
        'Tool "schema0": inputSchema is missing, taken as {"type":"object"}',
        'Tool "schema4" not listed: the type of its inputSchema is "string"',
        expect.stringMatching(/^Tool "x{60}…" not listed: its name has 129 characters, and 128 are allowed$/),
        'Tool "schema2" not listed: its inputSchema is a text',
      ]),
    );
    expect(warnings.length).toBeLessThanOrEqual(50);
    expect((await (await apiOf(hub)).getServer("good")).warnings).toEqual([]);
    const get = await plugboard(home, ["get", "weird"]);
    expect(get.stdout).toContain('warning  Tool "schema0": inputSchema is missing');
    const ls = await plugboard(home, ["ls"]);
    expect(ls.stdout).toMatch(/weird .*warnings: plugboard get weird/);
    const log = hub
      .stderr()
      .split("\n")
      .filter((line) => line.includes('"schema0"'));
    expect(log).toHaveLength(1);
  });
});

async function apiOf({ url, home }: RunningHub): Promise<HubClient> {
  return new HubClient({ url, token: (await readManagementToken(join(home.dir, "data"))) ?? "" });
}

/** What the entries have under a key, where that is a text that begins so. */
function textsOf(entries: readonly unknown[], key: string, beginning = ""): string[] {
  const values = entries.map((entry) => (entry as Record<string, unknown> | null)?.[key]);
  return values.filter((value): value is string => typeof value === "string" && value.startsWith(beginning));
}
