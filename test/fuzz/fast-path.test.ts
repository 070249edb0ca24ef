// Compares a server with the fast path to one with Node's parser only: for any input in any chunks, both give the same responses
// and pass the same bodies to the handler.

import { once } from "node:events";
import { createServer, type Server } from "node:http";
import { connect } from "node:net";
import { afterAll, beforeAll, expect, it } from "vitest";
import { FastPathFront } from "../../hub/src/http/fast-path/front.ts";
import { cutUp, Mutator, randomFrom } from "../support/mutator.ts";
import { closed } from "../support/streams.ts";
import { FUZZ_MS } from "./fuzz.ts";
import { scaled, testSeed } from "../support/scale.ts";
import { portOf } from "../support/sockets.ts";

const RUNS = scaled(1500, 100_000);
const SEED = testSeed(20_261_116);

const post = (body: string, ...fields: string[]) =>
  ["POST /mcp HTTP/1.1", "Host: localhost", `Content-Length: ${body.length}`, ...fields, "", body].join("\r\n");
const CORPUS = [
  post('{"jsonrpc":"2.0","id":1,"method":"ping"}', "Content-Type: application/json", "Accept: */*"),
  post("{}", "Connection: keep-alive") + post("[]"),
  post("", "Connection: close"),
  "POST /mcp/work HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
  "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
  "GET /mcp HTTP/1.1\r\nHost: localhost\r\n\r\n",
];

/** A handler that returns the request it received, which must not differ. */
function create(isFast: boolean): Server {
  const says = (url: string | undefined, host: string | undefined, body: Buffer) =>
    Buffer.from(`${url} ${host} ${body.toString("latin1")}`, "latin1");
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const body = says(request.url, request.headers.host, Buffer.concat(chunks));
      response.writeHead(200, { "content-length": body.length });
      response.end(body);
    });
  });
  const waitMs = { headers: 60_000, idle: 60_000, unread: 60_000 };
  if (isFast) {
    front = new FastPathFront(
      server,
      ({ url, headers, body }, response) => {
        byFastPath++;
        response.send(200, undefined, says(url, headers.host, body));
        return true;
      },
      { timeoutsMs: waitMs, headers: "" },
    );
  }
  return server.listen(0, "127.0.0.1");
}

let byFastPath = 0;
let front: FastPathFront | undefined;
let servers: Server[];

beforeAll(async () => {
  servers = [create(false), create(true)];
  for (const server of servers) if (!server.listening) await once(server, "listening");
});

afterAll(() => {
  for (const server of servers) server.close();
  front?.destroy();
});

/** The statuses and bodies of all responses until the connection ends. */
async function ask(server: Server, pieces: readonly Buffer[]): Promise<string[]> {
  const socket = connect(portOf(server), "127.0.0.1").setNoDelay();
  const chunks: Buffer[] = [];
  socket.on("data", (chunk: Buffer) => chunks.push(chunk));
  socket.on("error", () => undefined);
  const isOver = closed(socket);
  await once(socket, "connect");
  for (const piece of pieces) {
    await new Promise((resolve) => socket.write(piece, resolve));
    await new Promise((resolve) => setImmediate(resolve));
  }
  socket.end();
  await isOver;
  const answers = answersIn(Buffer.concat(chunks).toString("latin1"));
  // Node rejects an invalid request at once, even before it has answered earlier requests of the same chunk.
  return answers.at(-1)?.startsWith("400") === true ? answers.slice(-1) : answers;
}

function answersIn(text: string): string[] {
  const answers: string[] = [];
  for (let rest = text; rest !== "";) {
    const end = rest.indexOf("\r\n\r\n") + 4;
    const head = end < 4 ? rest : rest.slice(0, end);
    const length = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0);
    answers.push(`${head.split(" ")[1]} ${rest.slice(head.length, head.length + length)}`);
    rest = rest.slice(head.length + length);
  }
  return answers;
}

it(
  "GR-7 requests that bypass Node's parser get the same answers as with it",
  async () => {
    const random = randomFrom(SEED);
    const mutator = new Mutator(CORPUS, random);
    const [node, fast] = servers as [Server, Server];
    let answered = 0;
    for (let run = 0; run < RUNS; run++) {
      const input = mutator.next();
      const pieces = random(2) === 0 ? [input] : cutUp(input, random);
      const [expected, actual] = await Promise.all([ask(node, pieces), ask(fast, pieces)]);
      expect(actual, `TEST_SEED=${SEED}, input ${run}: ${JSON.stringify(input.toString("latin1"))}`).toEqual(expected);
      answered += actual.length;
    }
    // Both parsers have answered requests.
    expect(byFastPath).toBeGreaterThan(RUNS / 20);
    expect(answered - byFastPath).toBeGreaterThan(RUNS / 20);
  },
  FUZZ_MS,
);
