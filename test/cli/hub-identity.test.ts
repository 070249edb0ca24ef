// Commands check that the program at the address of the hub knows the token before they send anything to it.

import { createServer, type IncomingMessage } from "node:http";
import { createServer as createTcpServer } from "node:net";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { ECHO } from "../support/cli.ts";
import { tokenOf } from "../support/client.ts";
import { closeDaemonHome, openDaemonHome, recordOf, startDaemon, writeRecord } from "../support/daemon.ts";
import { makeHome, plugboard, type Home } from "../support/hub.ts";
import { listen } from "../support/sockets.ts";

describe("T37 another program listens at the address of the hub", () => {
  /** A program that is not the hub, and what it receives. */
  async function impostor(answer: string, status = 200) {
    const seen: string[] = [];
    const server = createServer((request: IncomingMessage, response) => {
      seen.push([request.method, request.url, ...request.rawHeaders].join(" "));
      request.on("data", (chunk) => seen.push(String(chunk)));
      response.writeHead(status, { "content-type": "application/json" }).end(answer);
    });
    return { seen, url: `http://127.0.0.1:${await listen(server)}`, close: () => server.close() };
  }

  describe("a command sends it no secret and fails:", () => {
    let home: Home;
    let token: string;
    beforeAll(async () => {
      home = await makeHome(ECHO);
      await startDaemon(home);
      token = await tokenOf(home);
      await plugboard(home, ["stop"]);
      return () => closeDaemonHome(home);
    });

    it.each([
      ["status", ["status"]],
      ["ls", ["ls"]],
      ["call", ["call", "it.echo", "text=x"]],
      ["secret", ["secret", "set", "name"]],
      ["add", ["add", "--no-test", "other", "--", "node"]],
      ["stop", ["stop"]],
      ["plugboard alone", []],
    ])("%s", async (_, args) => {
      for (const [answer, status] of [
        [JSON.stringify({ proof: "0".repeat(64) }), 200],
        ["{}", 200],
        ["x".repeat(100_000), 404],
      ] as const) {
        const fake = await impostor(answer, status);
        await writeRecord(home, {
          pid: process.pid,
          url: fake.url,
          config: join(home.dir, "config"),
          started_at: new Date().toISOString(),
        });
        const { code, stdout, stderr } = await plugboard(home, args, { stdin: "the secret value" });
        fake.close();
        expect({ code, stdout }).toEqual({ code: 4, stdout: "" });
        expect(stderr).toContain("is not your hub; nothing was sent to it");
        const all = fake.seen.join("\n");
        expect(all).toContain("/.well-known/plugboard-hub?nonce=");
        expect(all).not.toContain(token);
        expect(all).not.toContain("authorization");
        expect(all).not.toContain("the secret value");
      }
    });
  });

  it("a program that relays the challenge to the real hub does not pass the check", async (context) => {
    const home = await openDaemonHome(context, ECHO);
    await startDaemon(home);
    const record = await recordOf(home);
    const seen: string[] = [];
    const relay = createServer((request, response) => {
      seen.push(request.rawHeaders.join(" "));
      void fetch(record.url + request.url).then(async (answer) => response.end(await answer.text()));
    });
    await writeRecord(home, { ...record, url: `http://127.0.0.1:${await listen(relay)}` });
    const { code, stderr } = await plugboard(home, ["ls"]);
    relay.close();
    expect(code).toBe(4);
    expect(stderr).toContain("is not your hub");
    expect(seen.join().toLowerCase()).not.toContain("authorization");
    await writeRecord(home, record);
  });

  it("a program that never answers is abandoned after a short timeout", async (context) => {
    const home = await openDaemonHome(context, ECHO);
    await startDaemon(home);
    const record = await recordOf(home);
    await plugboard(home, ["stop"]);
    const silent = createTcpServer();
    await writeRecord(home, { ...record, pid: process.pid, url: `http://127.0.0.1:${await listen(silent)}` });
    const { code, stderr } = await plugboard(home, ["ls"]);
    expect(code).toBe(4);
    expect(stderr).toContain("does not answer");
    silent.close();
    await writeFile(join(home.dir, "state/hub.json"), "{}");
  });
});
