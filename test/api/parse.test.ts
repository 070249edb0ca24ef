// Pasted text as entries that can be added as they are.

import { expect, it } from "vitest";
import { fixture } from "../support/hub.ts";
import { useOwnHub } from "./own-hub.ts";
import { post } from "./planted-hub.ts";

const open = useOwnHub();

it("pasted entries get free names, and servers that the hub has are recognized", async () => {
  const own = await open({ echo: fixture("echo"), far: { url: "https://far.example/mcp", enabled: false } });
  const text = JSON.stringify({
    mcpServers: { echo: { command: "uvx", args: ["x"] }, other: { url: "https://far.example/mcp" } },
  });
  const { json } = await own.ask("/servers/parse", post({ text }));
  expect(json).toMatchObject({
    format: "json",
    entries: [
      { name: "echo-2", kind: "uvx", same_as: null },
      { name: "other", kind: "http", same_as: "far" },
    ],
  });
});

it("a parsed entry can be tested and added as it is", async () => {
  const own = await open({});
  const { command, args } = fixture("echo");
  const text = ["MODE=fast", command, ...args].join(" ");
  const [first] = (await own.client.servers.parse(text)).entries;
  expect(first).toMatchObject({ variables: [{ name: "MODE", value: "fast", required: false, secret: false }] });
  expect(await own.client.servers.test({ ...first?.entry })).toMatchObject({ success: true });
  await own.client.servers.create({ name: "pasted", ...first?.entry });
  expect((await own.entries()).pasted).toEqual({ command, args, env: { MODE: "fast" } });
});

it("an error names what was not understood, and not the text of a credential", async () => {
  const own = await open({});
  const { json } = await own.ask("/servers/parse", post({ text: "what is this" }));
  expect(json).toMatchObject({ status: 400, field: "text", message: 'Cannot tell what "what is this" is' });
});
