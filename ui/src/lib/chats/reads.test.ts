import { expect, it } from "vitest";
import { readsOf } from "./reads.ts";

const call = (client: string | null, tool_name: string, preview: string, outcome: "ok" | "failed" = "ok") => ({
  client,
  tool_name,
  preview,
  outcome,
  timestamp: "2026-01-01T00:00:00Z",
});

it("counts what each client read, by chat, without lists, failures and the interface itself", () => {
  const found = readsOf([
    call("claude", "get_messages", 'source="net" chat="Fam \\"ily" limit=5'),
    call("claude", "get_messages", 'source="net" chat="Fam \\"ily"'),
    call("claude", "search_messages", 'query="a chat=\\"Work\\" b"'),
    call("claude", "list_chats", ""),
    call("codex", "send_message", "chat=77 text=…"),
    call("codex", "get_messages", 'chat="x"', "failed"),
    call("ui", "get_messages", 'chat="y"'),
  ]);
  expect(found.map(({ client, chat, reads, searches, sent }) => [client, chat, reads, searches, sent])).toEqual([
    ["claude", 'Fam "ily', 2, 0, 0],
    ["claude", undefined, 0, 1, 0],
    ["codex", "77", 0, 0, 1],
  ]);
});
