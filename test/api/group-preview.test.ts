// Previews of groups: exactly what clients would see after the group is saved.

import { expect, it } from "vitest";
import type { GroupPreview } from "../../hub/src/api/schemas/group.ts";
import { fixture } from "../support/hub.ts";
import { post } from "./planted-hub.ts";
import { useOwnHub } from "./own-hub.ts";

const open = useOwnHub();
const SERVERS = { one: fixture("echo"), two: fixture("echo"), off: { ...fixture("echo"), enabled: false } };

async function opened() {
  const own = await open(SERVERS);
  await own.hub.start();
  const preview = async (body: unknown): Promise<GroupPreview> => (await own.ask("/groups/preview", post(body))).json;
  const toolsOf = async (group: string): Promise<string[]> =>
    (await own.ask(`/groups/${group}/tools`)).json.map(({ name }: { name: string }) => name);
  return { ...own, preview, toolsOf };
}

it("a preview has the tools of the saved group, and saves nothing", async () => {
  const { preview, toolsOf, ask, client } = await opened();
  const input = { servers: ["two", "one"], tools: ["one:*", "!*:fail", "two:ad*"] };
  const { tools, tool_count, tokens, saved, hidden } = await preview({ name: "desk", ...input });
  expect((await ask("/groups/desk")).status).toBe(404);
  expect(saved).toBeNull();
  expect(tool_count).toBe(tools.length);
  expect(tokens).toBe(tools.reduce((sum, tool) => sum + tool.tokens, 0));
  expect(tools.every((tool) => tool.tokens > 5 && tool.change === "new")).toBe(true);
  expect(tools.find(({ name }) => name === "two__add")).toMatchObject({ server: "two", tool: "add", rule: "two:ad*" });
  expect(hidden).toContainEqual(expect.objectContaining({ server: "one", tool: "fail", rule: "!*:fail" }));
  expect(hidden).toContainEqual(expect.objectContaining({ server: "two", tool: "echo", rule: null }));
  await client.groups.set("desk", input);
  expect(await toolsOf("desk")).toEqual(tools.map(({ name }) => name));
  const again = await preview({ name: "desk", ...input });
  expect(again.tools.every(({ change }) => change === "same")).toBe(true);
  expect(again.saved).toEqual({ tool_count, tokens });
});

it("a preview says which tools come, leave and get another name", async () => {
  const { preview, client } = await opened();
  await client.groups.set("desk", { servers: ["one"], tools: ["echo", "add"] });
  const { tools, removed, warnings } = await preview({
    name: "desk",
    servers: ["one", "two"],
    tools: ["one:echo", "two:fail"],
  });
  expect(tools.map(({ name, change, was }) => [name, change, was])).toEqual([
    ["one__echo", "renamed", "echo"],
    ["two__fail", "new", null],
  ]);
  expect(removed).toEqual(["add"]);
  expect(warnings).toEqual(["1 tool gets another name, such as one__echo in place of echo"]);
});

it("a preview warns about unknown servers and unused patterns, and knows the limits of clients", async () => {
  const { preview, ask } = await opened();
  expect((await preview({ servers: ["gone"], tools: [] })).warnings).toEqual([
    'Group "new-group" names the unknown server "gone"',
  ]);
  const { warnings, clients } = await preview({ servers: ["one"], tools: ["nothing", "echo"] });
  expect(warnings).toEqual(['Group "new-group": the tools entry "nothing" matches no tool']);
  expect(clients).toContainEqual({ client: "cursor", title: "Cursor", limit: 40, fits: true });
  const invalid = await ask("/groups/preview", post({ servers: ["one"], tools: [""] }));
  expect(invalid.json).toMatchObject({ status: 400, field: "tools.0" });
});
