// One PLUGBOARD_HOME for all: the chat server's own command, `plugboard chat`, and a chat server behind the hub.

import { mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { CHAT_BIN, connectChat } from "../support/chat/client.ts";
import { makeHome, plugboard, startHub } from "../support/hub.ts";

it("PLUGBOARD_HOME contains the chat server's files too, also behind the hub, and earlier ones are moved there", async () => {
  const user = await mkdtemp(join(tmpdir(), "plugboard-user-"));
  const home = await makeHome({ chat: { command: process.execPath, args: [CHAT_BIN] } });
  const env = { HOME: user };
  const file = join(user, "WhatsApp Chat with Ann.txt");
  await writeFile(file, "[31/12/2022, 11:40:26] Ann: hi\n[31/12/2022, 11:41:00] Bob: hello Ann\n");
  const args = ["chat", "import", file, "--self", "Bob", "--time-zone", "UTC"];
  const system = join(user, ".local/share/plugboard-chat");
  expect(await plugboard(home, args, { env: { ...env, PLUGBOARD_HOME: "" } })).toMatchObject({ code: 0 });
  expect(await readdir(system)).toContain("chat.db");

  // The home of this test is a temporary folder, unless temporary folders are elsewhere.
  const moved = await plugboard(home, ["chat", "sources"], { env: { ...env, TMPDIR: user } });
  expect(moved).toMatchObject({ code: 0, stdout: expect.stringContaining("whatsapp") });
  expect(moved.stderr).toContain(`moved the chats from ${system} to ${join(home.dir, "data/chat")}\n`);
  expect(await readdir(join(home.dir, "data/chat"))).toContain("chat.db");

  const hub = await startHub({ ...home, env: { ...home.env, ...env } });
  const client = await connectChat("legacy", { url: `${hub.url}/mcp` });
  const { json } = await client.call("list_chats", {});
  expect(json.chats).toMatchObject([{ name: "Ann" }]);
  await client.close();
  await hub.stop();

  const after = await plugboard(home, ["chat", "search", "hello"], { env });
  expect(after).toMatchObject({ code: 0, stderr: "" });
  expect(after.stdout).toContain("hello Ann");
  await mkdir(join(user, "other"));
  const other = await plugboard(home, ["chat", "sources"], {
    env: { ...env, PLUGBOARD_CHAT_HOME: join(user, "other") },
  });
  expect(other.stdout).not.toContain("whatsapp");
  await home.remove();
  await rm(user, { recursive: true });
});
