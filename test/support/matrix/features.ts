// The features that a hub must support, as one table: how an official client observes each, and the cells in which it cannot
// exist. The servers are test/conformance/fixture.

import { randomUUID } from "node:crypto";
import { LOG_LEVEL_META_KEY } from "@modelcontextprotocol/client";
import { expect } from "vitest";
import type { Cell, Gap } from "./cell.ts";
import { ANSWERS, type Peer } from "./peer.ts";

export interface Feature {
  readonly name: string;
  /** The cells in which it cannot exist, with the reason. */
  readonly gap?: (cell: Cell) => Gap | undefined;
  readonly see: (peer: Peer) => Promise<void>;
}

const WATCHED = "test://watched-resource";

/** Accepts any result: other schemas would drop the members that are checked here. */
const ANYTHING = {
  "~standard": { version: 1 as const, vendor: "test", validate: (value: unknown) => ({ value: value as object }) },
};

const onlyLegacyClients = (why: string) => (cell: Cell) =>
  cell.client.era === "modern" ? { impossible: why } : undefined;

async function textOf({ client }: Peer, name: string, args: Record<string, unknown> = {}): Promise<string> {
  const { content, isError } = await client.callTool({ name, arguments: args });
  expect({ isError: isError ?? false, content }).toMatchObject({ isError: false });
  const [block] = content;
  return block?.type === "text" ? block.text : "";
}

/** Listens for one kind of notification during an action. A legacy client gets it without a subscription. */
async function listening(
  { client, cell }: Peer,
  filter: Parameters<Peer["client"]["listen"]>[0],
  run: () => Promise<void>,
): Promise<void> {
  const subscription = cell.client.era === "modern" ? await client.listen(filter) : undefined;
  if (subscription !== undefined) expect(subscription.honoredFilter).toEqual(filter);
  await run();
  await subscription?.close();
}

export const FEATURES: readonly Feature[] = [
  {
    name: "tools are listed with everything that they say of themselves",
    see: async ({ client }) => {
      const { tools } = await client.listTools();
      expect(tools.find(({ name }) => name === "more_structured")).toMatchObject({
        title: "Structured",
        outputSchema: { type: "object", required: ["count"] },
        annotations: { readOnlyHint: true },
        _meta: { "example.com/kept": [1, { deep: true }] },
      });
      expect(tools.find(({ name }) => name === "json_schema_2020_12_tool")?.inputSchema).toMatchObject({
        $defs: { address: { $anchor: "addressDef" } },
        if: { required: ["contactMethod"] },
      });
    },
  },
  {
    name: "a call is answered with text, images, sound and resources",
    see: async ({ client }) => {
      const types = async (name: string) => (await client.callTool({ name })).content.map(({ type }) => type);
      expect(await types("test_multiple_content_types")).toEqual(["text", "image", "resource"]);
      expect(await types("test_audio_content")).toEqual(["audio"]);
    },
  },
  {
    name: "structured content",
    see: async ({ client }) => {
      const result = await client.callTool({ name: "more_structured", arguments: { count: 7 } });
      expect(result).toMatchObject({ content: [{ text: "7" }], structuredContent: { count: 7 } });
    },
  },
  {
    name: "members that nobody knows",
    see: async ({ client }) => {
      const result = await client.request({ method: "tools/call", params: { name: "more_unknown" } }, ANYTHING);
      expect(result).toMatchObject({
        content: [{ text: "known", annotations: { priority: 0.5 }, _meta: { "example.com/block": 1 } }],
        _meta: { "example.com/kept": { deep: [null, 1.5] } },
        fromTheFuture: { yes: true },
      });
    },
  },
  {
    name: "a tool's own error",
    see: async ({ client }) => {
      const result = await client.callTool({ name: "test_error_handling" });
      expect(result).toMatchObject({ isError: true, content: [{ text: expect.stringContaining("intentionally") }] });
    },
  },
  {
    name: "a tool that does not exist is an error of the request",
    see: ({ client }) => expect(client.callTool({ name: "no_such_tool" })).rejects.toMatchObject({ code: -32602 }),
  },
  {
    name: "an argument that is repeated in a header",
    see: async (peer) => {
      await peer.client.listTools();
      expect(await textOf(peer, "test_header_argument", { region: "Zürich " })).toBe("Zürich ");
    },
  },
  {
    name: "many calls at once, each with its own answer",
    see: async ({ client }) => {
      const counts = Array.from({ length: 20 }, (_, count) => count);
      const call = (count: number) => client.callTool({ name: "more_structured", arguments: { count } });
      const results = await Promise.all(counts.map(call));
      // Shows the unexpected result.
      expect(results.map(({ structuredContent, content }) => structuredContent ?? content)).toEqual(
        counts.map((count) => ({ count })),
      );
    },
  },
  {
    name: "progress",
    see: async ({ client, told }) => {
      const before = told.all.length;
      await client.callTool({ name: "test_tool_with_progress" }, { onprogress: () => {} });
      const seen = toldSince(told, before, "notifications/progress");
      expect(new Set(seen.map(({ progressToken }) => progressToken)).size).toBe(1);
      expect(seen).toMatchObject(
        [0, 50, 100].map((progress) => ({ progress, total: 100, message: `${progress} of 100` })),
      );
    },
  },
  {
    name: "log messages of a call, to whoever asked for them",
    see: async ({ client, cell, told }) => {
      if (cell.client.era === "legacy") await client.setLoggingLevel("info");
      const before = told.all.length;
      const _meta = cell.client.era === "modern" ? { [LOG_LEVEL_META_KEY]: "info" } : {};
      await client.callTool({ name: "test_tool_with_logging", _meta });
      const logged = toldSince(told, before, "notifications/message").map(({ data }) => data);
      expect(logged).toEqual(["Tool execution started", "Tool processing data", "Tool execution completed"]);
    },
  },
  {
    name: "no log messages below the level that was asked for",
    see: async (peer) => {
      const { client, cell, told } = peer;
      if (cell.client.era === "legacy") await client.setLoggingLevel("error");
      const before = told.all.length;
      await textOf(peer, "test_logging_tool");
      expect(toldSince(told, before, "notifications/message")).toEqual([]);
    },
  },
  {
    name: "completion of an argument of a prompt",
    see: async ({ client }) => {
      const ref = { type: "ref/prompt" as const, name: "test_prompt_with_arguments" };
      const { completion } = await client.complete({ ref, argument: { name: "arg1", value: "par" } });
      expect(completion.values).toEqual(["paris", "park", "party"]);
    },
  },
  {
    name: "completion of a part of a resource's address",
    see: async ({ client }) => {
      const ref = { type: "ref/resource" as const, uri: "test://template/{id}/data" };
      const { completion } = await client.complete({ ref, argument: { name: "id", value: "1" } });
      expect(completion.values).toEqual(["1", "10", "100"]);
    },
  },
  {
    name: "prompts",
    see: async ({ client }) => {
      const { prompts } = await client.listPrompts();
      expect(prompts.find(({ name }) => name === "test_prompt_with_arguments")?.arguments).toHaveLength(2);
      const prompt = await client.getPrompt({
        name: "test_prompt_with_arguments",
        arguments: { arg1: "é", arg2: "b" },
      });
      expect(prompt.messages).toMatchObject([{ content: { text: "Prompt with arguments: arg1='é', arg2='b'" } }]);
    },
  },
  {
    name: "resources and templates",
    see: async ({ client }) => {
      const { resources } = await client.listResources();
      expect(resources.map(({ uri }) => uri)).toEqual(expect.arrayContaining(["test://static-text", WATCHED]));
      const { resourceTemplates } = await client.listResourceTemplates();
      expect(resourceTemplates).toMatchObject([{ uriTemplate: "test://template/{id}/data" }]);
      const read = async (uri: string) => (await client.readResource({ uri })).contents;
      expect(await read("test://static-text")).toMatchObject([{ text: expect.stringContaining("static text") }]);
      expect(await read("test://static-binary")).toMatchObject([{ blob: expect.any(String), mimeType: "image/png" }]);
      expect(await read("test://template/7/data")).toMatchObject([{ text: expect.stringContaining('"id":"7"') }]);
    },
  },
  {
    name: "a resource that does not exist",
    see: ({ client }) => expect(client.readResource({ uri: "test://nowhere" })).rejects.toMatchObject({ code: -32602 }),
  },
  {
    name: "the list of tools changes",
    see: async (peer) => {
      await listening(peer, { toolsListChanged: true }, async () => {
        const before = peer.told.all.length;
        await textOf(peer, "test_trigger_tool_change");
        await peer.told.find((message) => isNew(peer, message, before, "notifications/tools/list_changed"));
      });
    },
  },
  {
    name: "the list of prompts changes",
    see: async (peer) => {
      await listening(peer, { promptsListChanged: true }, async () => {
        const before = peer.told.all.length;
        await textOf(peer, "test_trigger_prompt_change");
        await peer.told.find((message) => isNew(peer, message, before, "notifications/prompts/list_changed"));
      });
    },
  },
  {
    name: "ping",
    gap: onlyLegacyClients("ping was removed in 2026-07-28"),
    see: async ({ client }) => expect(await client.ping()).toBeDefined(),
  },
  {
    name: "a watched resource changes",
    see: async (peer) => {
      const { client, cell, told } = peer;
      if (cell.client.era === "legacy") await client.subscribeResource({ uri: WATCHED });
      await listening(peer, { resourceSubscriptions: [WATCHED] }, async () => {
        await textOf(peer, "more_change_watched");
        await told.find(({ method, params }) => method === "notifications/resources/updated" && params.uri === WATCHED);
      });
      if (cell.client.era === "legacy") await client.unsubscribeResource({ uri: WATCHED });
    },
  },
  {
    name: "a server asks the model of the client",
    see: async (peer) =>
      expect(await textOf(peer, "test_sampling", { prompt: "Six by nine?" })).toContain(ANSWERS.sampled),
  },
  {
    name: "a server asks the user of the client",
    see: async (peer) => expect(await textOf(peer, "test_elicitation", { message: "Who?" })).toContain(ANSWERS.name),
  },
  {
    name: "a server asks for the roots of the client",
    see: async (peer) => expect(await textOf(peer, "test_input_required_result_list_roots")).toBe(ANSWERS.root),
  },
  {
    name: "a server asks several things at once, and one after the other",
    see: async (peer) => {
      expect(await textOf(peer, "test_input_required_result_multiple_inputs")).toContain(
        `${ANSWERS.name} with 1 roots`,
      );
    },
  },
  {
    // The last row: a server that honours the cancellation never answers, so its next messages on stdio have no owner for a
    // while.
    name: "a cancelled call is cancelled at the server",
    see: async (peer) => {
      const key = randomUUID();
      const controller = new AbortController();
      const call = peer.client.callTool({ name: "more_hang", arguments: { key } }, { signal: controller.signal });
      const ended = call.then(
        () => "answered",
        () => "given up",
      );
      expect(await textOf(peer, "more_await", { key, state: "begun" })).toBe("begun");
      controller.abort();
      expect(await ended).toBe("given up");
      expect(await textOf(peer, "more_await", { key, state: "cancelled" })).toBe("cancelled");
    },
  },
];

/** The notifications of one kind since then. Lists may change at any time. */
function toldSince(told: Peer["told"], before: number, kind: string) {
  return told.all.slice(before).flatMap(({ method, params }) => (method === kind ? [params] : []));
}

function isNew({ told }: Peer, message: { method: string }, before: number, method: string): boolean {
  return message.method === method && told.all.indexOf(message) >= before;
}
