// Runs the source beside the chat server, and reads a message as an agent would.

import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { McpClient } from "plugboard";
import { HarbourRadio } from "./source.mjs";

const home = await mkdtemp(join(tmpdir(), "chat-source-"));
const events = join(home, "radio.jsonl");
const sources = { radio: { kind: "jsonl", name: "Harbour radio", options: { path: events } } };
await writeFile(join(home, "chat.json"), JSON.stringify({ sources }));
const radio = new HarbourRadio(events);
await radio.open();

const chat = await McpClient.connect("chat", "npx", ["plugboard-chat"], { env: { PLUGBOARD_CHAT_HOME: home } });
try {
  const waiting = chat.callTool("wait_for_messages", { source: "radio", timeout_s: 20 });
  await radio.received({ id: "1", from: "ann", text: "the boat leaves at nine", at: new Date() });
  const { content } = await waiting;
  console.log(content.split("\n").find((line) => line.includes("Ann")));
} finally {
  await chat.close();
  await rm(home, { recursive: true });
}
