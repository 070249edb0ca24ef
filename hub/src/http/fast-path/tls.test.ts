// The fast path over TLS: the same bytes get the same answers as over TCP, from the same parser.

import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect as connectTls } from "node:tls";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { makeCertificate } from "../../../../test/support/certificates.ts";
import { listen } from "../../../../test/support/sockets.ts";
import { closed } from "../../../../test/support/streams.ts";
import { FastPathFront } from "./front.ts";

let folder: string;
let certificate: { readonly cert: Buffer; readonly key: Buffer };

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "plugboard-test-"));
  const { cert, key } = await makeCertificate(folder);
  certificate = { cert: await readFile(cert), key: await readFile(key) };
});

afterAll(() => rm(folder, { recursive: true, force: true }));

function nodeEcho(request: IncomingMessage, response: ServerResponse): void {
  const chunks: Buffer[] = [];
  request.on("data", (chunk: Buffer) => chunks.push(chunk));
  request.on("end", () => {
    const body = Buffer.concat(chunks);
    response.writeHead(200, { "x-by": "node", "content-length": body.length }).end(body);
  });
}

async function serve(isSecure: boolean): Promise<number> {
  const server = isSecure ? createTlsServer(certificate, nodeEcho) : createServer(nodeEcho);
  const timeoutsMs = { headers: 60_000, idle: 60_000, unread: 60_000 };
  const front = new FastPathFront(
    server,
    ({ url, body }, response) => {
      if (url === "/stream") {
        const stream = response.stream();
        stream.writeHead(200, { "x-by": "stream", "content-length": 4 });
        stream.write("one");
        setImmediate(() => stream.end("!"));
      } else response.send(200, { "x-by": "fast" }, body);
      return true;
    },
    { timeoutsMs, headers: "" },
  );
  onTestFinished(async () => {
    front.destroy();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return listen(server);
}

type Step = readonly [bytes: string, parsers: readonly string[]];

/** Writes the bytes of each step, and waits for its answers. Returns who answered, and what. */
async function exchange(port: number, isSecure: boolean, steps: readonly Step[]): Promise<readonly string[]> {
  const socket = isSecure
    ? connectTls({ port, host: "127.0.0.1", rejectUnauthorized: false })
    : connect({ port, host: "127.0.0.1" });
  await once(socket, isSecure ? "secureConnect" : "connect");
  let text = "";
  let onMore = () => {};
  socket.on("data", (chunk: Buffer) => {
    text += chunk.toString("latin1");
    onMore();
  });
  const isClosed = closed(socket);
  let expected = 0;
  for (const [bytes, parsers] of steps) {
    expected += parsers.length;
    socket.write(bytes);
    // The body of each answer ends with an exclamation mark.

    while (text.split("!").length <= expected) await new Promise<void>((resolve) => (onMore = resolve));
  }
  await isClosed;
  return text
    .split("HTTP/1.1 ")
    .slice(1)
    .map((answer) => {
      const [head = "", body = ""] = answer.split("\r\n\r\n");
      return `${head.slice(0, 3)} ${/x-by: (\w+)/.exec(head)?.[1]} ${body.length > 99 ? body.length : body}`;
    });
}

const post = (body: string, path = "/mcp", ...fields: string[]) =>
  [`POST ${path} HTTP/1.1`, "Host: localhost", `Content-Length: ${body.length}`, ...fields, "", body].join("\r\n");

const chunked = "POST /mcp HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n2\r\na!\r\n0\r\n\r\n";
const last: Step = [post("end!", "/mcp", "Connection: close"), ["node"]];

describe.each<[string, readonly Step[]]>([
  ["requests on one connection", [[post("a!"), ["fast"]], [post("b!"), ["fast"]], last]],
  ["a stream, and a request after it", [[post("a", "/stream"), ["stream"]], [post("b!"), ["fast"]], last]],
  ["a body of 60 KB", [[post(`${"x".repeat(60_000)}!`), ["fast"]], last]],
  [
    "another method",
    [["DELETE / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\n\r\n!", ["node"]], [post("a!"), ["node"]], last],
  ],
  ["pipelined requests", [[post("a!") + post("b!"), ["node", "node"]], last]],
  ["a chunked body", [[chunked, ["node"]], last]],
  [
    "a request that is refused after others",
    [
      [post("a!"), ["fast"]],
      ["what is this\r\n\r\n", []],
    ],
  ],
])("AU-6 %s", (_, steps) => {
  it("gets the same over TLS as over TCP", async () => {
    const [plain, secure] = await Promise.all([serve(false), serve(true)]);
    const [overTcp, overTls] = await Promise.all([exchange(plain, false, steps), exchange(secure, true, steps)]);
    expect(overTls).toEqual(overTcp);
    const parsers = overTls.map((answer) => answer.split(" ")[1]).filter((name) => name !== "undefined");
    // A large body may come in more pieces than the fast path takes.
    if (!overTls.some((answer) => /\d{4}$/.test(answer))) expect(parsers).toEqual(steps.flatMap(([, names]) => names));
  });
});
