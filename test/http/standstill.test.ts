// A suspended process, like a laptop that sleeps: requests that arrived in the meantime do not time out.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { closed } from "../support/streams.ts";

const PROGRAM = fileURLToPath(new URL("../fixtures/listener.mjs", import.meta.url));
/** Enough for everything before the suspension, on a slow machine. */
const PATIENCE = { headers: 1500, request: 2000, check: 50 };
const REQUEST = "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";

/** Everything that is received. */
async function exchange(socket: Socket, request = REQUEST): Promise<string> {
  let got = "";
  const end = closed(socket.setEncoding("latin1").on("data", (text: string) => (got += text)));
  socket.write(request);
  await end;
  return got;
}

it("F43 T21 requests that arrive while the process is suspended are served, on old and new connections", async () => {
  const child = spawn(process.execPath, [PROGRAM, JSON.stringify(PATIENCE)], { stdio: ["ignore", "pipe", "inherit"] });
  const exited = once(child, "exit");
  try {
    const [line] = await once(child.stdout, "data");
    const port = Number(new URL(String(line)).port);
    const early = connect(port, "127.0.0.1");
    await once(early, "connect");
    // Connections are accepted in order, so the early one has been accepted before the process is stopped.
    expect(await exchange(connect(port, "127.0.0.1"))).toMatch(/^HTTP\/1\.1 200 /);
    child.kill("SIGSTOP");
    const answers = [early, connect(port, "127.0.0.1")].map((socket) => exchange(socket));
    const half = exchange(connect(port, "127.0.0.1"), "GET / HTTP/1.1\r\nHost: ");
    // Longer than the timeout, which is what the test is about.
    await new Promise((resolve) => setTimeout(resolve, 2 * PATIENCE.request));
    child.kill("SIGCONT");
    for (const answer of await Promise.all(answers)) expect(answer).toMatch(/^HTTP\/1\.1 200 [^]*served$/);
    // After the suspension, an incomplete request times out as usual.
    expect(await half).toMatch(/^HTTP\/1\.1 408 /);
  } finally {
    child.kill("SIGKILL");
    await exited;
  }
});
