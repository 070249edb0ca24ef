// A process that stood still, as in a laptop that slept: what clients sent meanwhile is no fault of theirs.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { closed } from "../support/streams.ts";

const PROGRAM = fileURLToPath(new URL("../fixtures/listener.mjs", import.meta.url));
/** Enough for what comes before the stop, on a slow machine. */
const PATIENCE = { headers: 1500, request: 2000, check: 50 };
const REQUEST = "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";

/** All that comes back. */
async function exchange(socket: Socket, request = REQUEST): Promise<string> {
  let got = "";
  const end = closed(socket.setEncoding("latin1").on("data", (text: string) => (got += text)));
  socket.write(request);
  await end;
  return got;
}

it("F43 T21 requests that came while the process was stopped are served, on old and new connections", async () => {
  const child = spawn(process.execPath, [PROGRAM, JSON.stringify(PATIENCE)], { stdio: ["ignore", "pipe", "inherit"] });
  const exited = once(child, "exit");
  try {
    const [line] = await once(child.stdout, "data");
    const port = Number(new URL(String(line)).port);
    const early = connect(port, "127.0.0.1");
    await once(early, "connect");
    // Connections are accepted in order: the early one is known to the process before it stops.
    expect(await exchange(connect(port, "127.0.0.1"))).toMatch(/^HTTP\/1\.1 200 /);
    child.kill("SIGSTOP");
    const answers = [early, connect(port, "127.0.0.1")].map((socket) => exchange(socket));
    const half = exchange(connect(port, "127.0.0.1"), "GET / HTTP/1.1\r\nHost: ");
    // For longer than it has patience: this is about time.
    await new Promise((resolve) => setTimeout(resolve, 2 * PATIENCE.request));
    child.kill("SIGCONT");
    for (const answer of await Promise.all(answers)) expect(answer).toMatch(/^HTTP\/1\.1 200 [^]*served$/);
    // Patience goes on being bounded.
    expect(await half).toMatch(/^HTTP\/1\.1 408 /);
  } finally {
    child.kill("SIGKILL");
    await exited;
  }
});
