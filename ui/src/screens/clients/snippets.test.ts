import { expect, it } from "vitest";
import { dialects } from "./snippets.ts";

const text = (group: string, label: string): string =>
  dialects("http://127.0.0.1:7430", group).find((each) => each.label === label)?.text ?? "";

it("gives the addresses of a group for every transport", () => {
  expect(text("default", "URL")).toBe("http://127.0.0.1:7430/mcp");
  expect(text("a b", "URL")).toBe("http://127.0.0.1:7430/groups/a%20b/mcp");
  expect(text("dev", "SSE")).toBe("http://127.0.0.1:7430/groups/dev/sse");
  expect(text("dev", "WebSocket")).toBe("ws://127.0.0.1:7430/groups/dev/mcp");
});

it("writes entries that the clients' formats take", () => {
  expect(JSON.parse(text("dev", "JSON, stdio"))).toEqual({
    mcpServers: { plugboard: { command: "plugboard", args: ["stdio", "--group", "dev"] } },
  });
  expect(text("default", "TOML")).toContain('args = ["stdio"]');
});
