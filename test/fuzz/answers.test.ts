// The bridge's HTTP client against servers that send anything and end the connection in any way: each request ends exactly once.

import { createServer, type Server, type Socket } from "node:net";
import { afterAll, beforeAll, expect, it } from "vitest";
import { HttpClient, type ResponseHandler } from "../../hub/src/bridge/http-client.ts";
import { messageBody, startPosition, type MessageBody } from "../../hub/src/bridge/message-body.ts";
import { HubError } from "../../hub/src/errors.ts";
import { cutUp, Mutator, type Random } from "../support/mutator.ts";
import { FUZZ_MS } from "./fuzz.ts";
import { fuzzWire } from "./wire.ts";
import { listen } from "../support/sockets.ts";

const MESSAGE = '{"jsonrpc":"2.0","id":1,"result":{"text":"ä"}}';
const EVENT = `id: 1\nretry: 10\ndata: ${MESSAGE}\n\n`;

const lines = (...all: string[]) => all.join("\r\n");
const size = (text: string) => Buffer.byteLength(text).toString(16);

const CORPUS = [
  lines("HTTP/1.1 200 OK", "Content-Type: application/json", `Content-Length: ${MESSAGE.length + 1}`, "", MESSAGE),
  lines("HTTP/1.1 200 OK", "content-type: text/event-stream", "transfer-encoding: chunked", "", "") +
    lines(size(EVENT), EVENT, `${size(EVENT)};x=y`, EVENT, "0", "Trailer: t", "", ""),
  lines("HTTP/1.1 202 Accepted", "content-length: 0", "Keep-Alive: timeout=5", "", ""),
  lines("HTTP/1.1 204 No Content", "Connection: close", "", ""),
  lines("HTTP/1.1 103 Early Hints", "Link: x", "", "HTTP/1.1 404 Not Found", "Content-Length: 2", "", "no"),
  lines("HTTP/1.0 200 OK", "Content-Type: text/event-stream", "", EVENT),
  lines("HTTP/1.1 307 Temporary Redirect", "location: /there", "content-length: 0", "", ""),
  lines("HTTP/1.1 302 Found", "location: http://elsewhere.example/", "", "Go there"),
];

/** What the server does to the connection after its response. */
const ENDINGS = ["end", "reset", "stay"] as const;

interface Script {
  readonly pieces: readonly Buffer[];
  readonly ending: (typeof ENDINGS)[number];
}

let server: Server;
let client: HttpClient;
const scripts = new Map<string, Script>();

beforeAll(async () => {
  server = createServer((socket) => socket.on("error", () => undefined).on("data", (head) => play(socket, head)));
  const port = await listen(server);
  client = new HttpClient(new URL(`http://127.0.0.1:${port}/here`));
});

afterAll(async () => {
  client.close();
  await new Promise((resolve) => server.close(resolve));
});

/** Runs the script that the request names. */
function play(socket: Socket, head: Buffer): void {
  const script = scripts.get(/^x-input: (\d+)/m.exec(head.toString("latin1"))?.[1] ?? "");
  for (const piece of script?.pieces ?? []) socket.write(piece);
  if (script?.ending === "end") socket.end();
  else if (script?.ending === "reset") socket.write("", () => socket.resetAndDestroy());
}

/** Sends one request and returns its outcome. */
function ask(number: string, ending: Script["ending"]): Promise<string> {
  return new Promise((resolve, reject) => {
    let body: MessageBody | undefined;
    let outcomes = 0;
    const settle = (outcome: string) => {
      clearTimeout(timer);
      if (++outcomes > 1) reject(new Error(`a second outcome: ${outcome}`));
      else resolve(outcome);
    };
    const handler: ResponseHandler = {
      onHead: (status, headers) => {
        if (outcomes > 0) reject(new Error("a head after the end"));
        const ignore = () => undefined;
        const reader = { inSession: true, position: startPosition(), onMessage: ignore, onOverflow: ignore };
        body = messageBody(status, headers, reader);
      },
      onBody: (chunk) => (body ?? expect.fail("a body before its head")).push(chunk),
      onEnd: () => {
        body?.end();
        // Every response has an error for a request that it does not answer.
        settle(body?.failure() === undefined ? "5xx: an end without a head" : "answer");
      },
      onError: (error) => settle(error.kind),
    };
    const sent = client.send({ method: "GET", headers: { "x-input": number } }, handler);
    // A response without an end is aborted.
    const timer = setTimeout(() => sent.abort(new HubError("Cancelled", "Given up")), ending === "stay" ? 5 : 60_000);
  });
}

it(
  "SE-5 T20 a request ends exactly once for any server output and any end of the connection",
  { timeout: FUZZ_MS },
  async () => {
    let asked = 0;
    const missing = await fuzzWire({
      name: "answers on sockets",
      quickRuns: 1500,
      expected: ["answer", "ProtocolError", "ConnectionFailed", "Cancelled"],
      inputs: (random: Random) => new Mutator(CORPUS, random),
      send: async (input, random) => {
        const number = String(asked++);
        const pieces = random(3) === 0 ? cutUp(input, random).filter(({ length }) => length > 0) : [input];
        const ending = ENDINGS[random(ENDINGS.length)] ?? "end";
        scripts.set(number, { pieces, ending });
        try {
          return await ask(number, ending);
        } finally {
          scripts.delete(number);
        }
      },
    });
    expect(missing).toEqual([]);
  },
);
