// What the chat server refuses: too many requests, slow requests, foreign origins, and access from other machines without a
// token.

import { connect } from "node:net";
import { once } from "node:events";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openApp } from "../../chat/src/app.ts";
import { LIMITS } from "../../chat/src/limits.ts";
import { HttpEndpoint } from "../../chat/src/mcp/http.ts";
import {
  chat,
  connectChat,
  makeChatHome,
  message,
  person,
  runChat,
  startChat,
  type ChatHome,
  type Era,
  type RunningChat,
} from "../support/chat/client.ts";

const EVENTS = [
  person("alice", "Alice"),
  chat("antti", "Antti"),
  message("antti", "1", "alice", "2025-01-13T09:00:00Z", "hi"),
];

describe("limits", () => {
  let home: ChatHome;
  let server: RunningChat;

  beforeAll(async () => {
    home = await makeChatHome({ telegram: { events: EVENTS } });
    server = await startChat(home);
  });

  afterAll(async () => {
    await server.stop();
    await home.remove();
  });

  it.each<{ era: Era; over: "http" | "stdio" }>([
    { era: "modern", over: "http" },
    { era: "legacy", over: "http" },
    { era: "modern", over: "stdio" },
    { era: "legacy", over: "stdio" },
  ])("CH-11 the 101st concurrent request is refused with BUSY, for a $era client over $over", async ({ era, over }) => {
    const client = await connectChat(era, over === "http" ? server : { home });
    const word = `busy${era}${over}`;
    const waiting = Array.from({ length: 100 }, () =>
      client.call("wait_for_messages", { source: "telegram", search: word, timeout_s: 50 }),
    );
    let refused = await client.call("list_sources");
    // The last calls may not have arrived yet.
    while (!refused.isError) refused = await client.call("list_sources");
    expect(refused.json.error).toMatchObject({ code: "BUSY", retry_after_s: 1 });
    await expect(client.read("messages://telegram/Antti")).rejects.toMatchObject({ data: { code: "BUSY" } });
    await home.append("telegram", message("antti", word, "alice", Date.now(), word, { origin: "live" }));
    for (const { json } of await Promise.all(waiting)) expect(json.messages).toHaveLength(1);
    expect((await client.call("list_sources")).isError).toBe(false);
    await client.close();
  });

  it("CH-11 a request beyond the time limit is answered with TIMEOUT", async () => {
    const app = await openApp({
      env: home.env,
      platform: process.platform,
      home: home.dir,
      log: () => undefined,
      limits: { ...LIMITS, requestMs: 50 },
    });
    const end = await HttpEndpoint.open(app, { host: "127.0.0.1", port: 0, token: undefined });
    const client = await connectChat("modern", end);
    const { isError, json } = await client.call("wait_for_messages", { timeout_s: 50 });
    expect(isError).toBe(true);
    expect(json.error.code).toBe("TIMEOUT");
    await client.close();
    await end.close();
    await app.close();
  });

  it("CH-11 a client that does not finish its request is cut off", async () => {
    const app = await openApp({ env: home.env, platform: process.platform, home: home.dir, log: () => undefined });
    const end = await HttpEndpoint.open(app, { host: "127.0.0.1", port: 0, token: undefined, connectionMs: 100 });
    const { port } = new URL(end.url);
    for (const said of ["", "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 100\r\n\r\n{"]) {
      const socket = connect(Number(port), "127.0.0.1");
      socket.resume();
      await once(socket, "connect");
      socket.write(said);
      await expect(once(socket, "close")).resolves.toEqual([false]);
    }
    await end.close();
    await app.close();
  });

  it("CH-9 requests with a foreign Host or Origin are refused, so that no web page reaches it by DNS rebinding", async () => {
    const { port } = new URL(server.url);
    const ask = async (headers: string): Promise<string> => {
      const socket = connect(Number(port), "127.0.0.1");
      socket.end(`GET /healthz HTTP/1.1\r\n${headers}Connection: close\r\n\r\n`);
      let text = "";
      socket.on("data", (chunk) => (text += chunk));
      await once(socket, "close");
      return text.split("\r\n")[0] ?? "";
    };
    expect(await ask(`Host: 127.0.0.1:${port}\r\n`)).toBe("HTTP/1.1 200 OK");
    expect(await ask(`Host: localhost\r\nOrigin: http://localhost\r\n`)).toBe("HTTP/1.1 200 OK");
    expect(await ask(`Host: evil.example\r\n`)).toBe("HTTP/1.1 403 Forbidden");
    expect(await ask(`Host: 127.0.0.1.evil.example\r\n`)).toBe("HTTP/1.1 403 Forbidden");
    expect(await ask(`Host: localhost\r\nOrigin: http://evil.example\r\n`)).toBe("HTTP/1.1 403 Forbidden");
    expect(await ask(`Host: localhost\r\nOrigin: null\r\n`)).toBe("HTTP/1.1 403 Forbidden");
  });

  it("CH-9 off loopback it does not start without a token", async () => {
    const { code, stderr } = await runChat(home, "serve", "--port", "0", "--host", "0.0.0.0");
    expect(code).toBe(1);
    expect(stderr).toMatch(/A token is required to listen on/);
  });

  it("CH-9 off loopback with a token from a file it serves clients that have the token", async () => {
    const { writeFile } = await import("node:fs/promises");
    await writeFile(`${home.dir}/token`, "from-a-file\n");
    const open = await startChat(home, { args: ["--host", "0.0.0.0", "--token-file", `${home.dir}/token`] });
    const url = open.url.replace("0.0.0.0", "127.0.0.1");
    await expect(connectChat("legacy", { url })).rejects.toThrow();
    const client = await connectChat("legacy", { url, token: "from-a-file" });
    expect((await client.tools()).length).toBeGreaterThan(0);
    await client.close();
    await open.stop();
  });

  it("CH-1 a port in use and an invalid port are reported", async () => {
    const { port } = new URL(server.url);
    const taken = await runChat(home, "serve", "--port", port);
    expect([taken.code, taken.stderr]).toEqual([1, expect.stringContaining(`Port ${port} of 127.0.0.1 is in use`)]);
    const none = await runChat(home, "serve", "--port", "http");
    expect([none.code, none.stderr]).toEqual([1, expect.stringContaining("Invalid port 'http'")]);
  });

  it("CH-1 a second signal ends it at once, also with open calls", async () => {
    const own = await startChat(home);
    own.process.kill("SIGSTOP");
    own.process.kill("SIGTERM");
    own.process.kill("SIGINT");
    own.process.kill("SIGCONT");
    expect([0, 130]).toContain(await own.ended);
  });
});
