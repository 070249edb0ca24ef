// A server that reads ordinary requests without Node's parser beside one that does not: whatever comes, in whatever pieces, both
// give the same answers and reach the same handler with the same bodies.

import { once } from "node:events";
import { createServer, type Server } from "node:http";
import { connect, type AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, it } from "vitest";
import { QuickFront } from "../../hub/src/wire/quick-front.ts";
import { cutUp, Mutator, randomFrom } from "../support/mutator.ts";
import { closed } from "../support/streams.ts";
import { FUZZ_MS } from "./fuzz.ts";

const RUNS = Math.min(Number(process.env["FUZZ_RUNS"] ?? 1500), 100_000);
const SEED = Number(process.env["FUZZ_SEED"] ?? 20_261_116);

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

/** Says what reached it: that is what must not differ. */
function create(isQuick: boolean): Server {
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
  if (isQuick) {
    front = new QuickFront(
      server,
      ({ url, headers, body }, response) => {
        byUs++;
        response.send(200, undefined, "", says(url, headers.host, body), "");
        return true;
      },
      waitMs,
    );
  }
  return server.listen(0, "127.0.0.1");
}

let byUs = 0;
let front: QuickFront | undefined;
let servers: Server[];

beforeAll(async () => {
  servers = [create(false), create(true)];
  for (const server of servers) if (!server.listening) await once(server, "listening");
});

afterAll(() => {
  for (const server of servers) server.close();
  front?.destroy();
});

/** The statuses and bodies of all that comes back until the connection ends. */
async function ask(server: Server, pieces: readonly Buffer[]): Promise<string[]> {
  const socket = connect((server.address() as AddressInfo).port, "127.0.0.1").setNoDelay();
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
  // Node refuses what is broken at once, also before it has answered what came in one piece with it.
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
  "GR-7 requests that are read without Node's parser are answered as Node would",
  async () => {
    const random = randomFrom(SEED);
    const mutator = new Mutator(CORPUS, random);
    const [node, quick] = servers as [Server, Server];
    let answered = 0;
    for (let run = 0; run < RUNS; run++) {
      const input = mutator.next();
      const pieces = random(2) === 0 ? [input] : cutUp(input, random);
      const [expected, actual] = await Promise.all([ask(node, pieces), ask(quick, pieces)]);
      expect(actual, `FUZZ_SEED=${SEED}, input ${run}: ${JSON.stringify(input.toString("latin1"))}`).toEqual(expected);
      answered += actual.length;
    }
    // Neither all of one kind nor all of the other.
    expect(byUs).toBeGreaterThan(RUNS / 20);
    expect(answered - byUs).toBeGreaterThan(RUNS / 20);
  },
  FUZZ_MS,
);
