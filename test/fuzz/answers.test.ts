// The bridge's reader of HTTP answers: any bytes, however they are cut, are an answer or an error that says so; and over
// real sockets, whatever comes and however the connection ends, whoever asked is told once.

import { createServer, type AddressInfo, type Server, type Socket } from "node:net";
import fc from "fast-check";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { Receiver } from "../../hub/src/bridge/kept-socket.ts";
import { messageBody, startPosition, type MessageBody } from "../../hub/src/bridge/message-body.ts";
import { ResponseReader } from "../../hub/src/bridge/response-reader.ts";
import { Sockets } from "../../hub/src/bridge/sockets.ts";
import { HubError } from "../../hub/src/errors.ts";
import { cutUp, Mutator, randomFrom, type Random } from "../support/mutator.ts";
import { fuzz, FUZZ_MS, settings } from "./fuzz.ts";
import { fuzzWire } from "./wire.ts";

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

interface Read {
  readonly responses: { status: number; headers: object; body: string; reusable?: boolean }[];
  refusal?: string;
}

/** What is read from these pieces, and then the end of the connection. */
function read(pieces: readonly Buffer[]): Read {
  const found: Read = { responses: [] };
  const last = () => found.responses.at(-1) ?? expect.fail("a body before its head");
  const reader = new ResponseReader({
    onHead: (status, headers) => found.responses.push({ status, headers: { ...headers }, body: "" }),
    onBody: (chunk) => {
      last().body += chunk.toString("latin1");
    },
    onEnd: (reusable) => {
      if (last().reusable !== undefined) expect.fail("it ends twice");
      last().reusable = reusable;
    },
  });
  try {
    for (const piece of pieces) reader.push(piece);
    reader.close();
  } catch (error) {
    if (!(error instanceof HubError) || error.kind !== "ProtocolError") throw error;
    found.refusal = `${error.message}: ${error.detail}`;
  }
  return found;
}

it("SE-5 T20 any bytes are answers or none, the same however they are cut", { timeout: FUZZ_MS }, () => {
  const outcomes = fuzz({
    name: "answers",
    corpus: CORPUS,
    quickRuns: 10_000,
    check: (input, random) => {
      const whole = read([input]);
      const cut = read(cutUp(input, random));
      // What follows an answer in one piece with it shows that the connection is not to be used again.
      for (const [at, { reusable }] of cut.responses.entries()) {
        const other = whole.responses[at];
        if (other !== undefined && other.reusable === false && reusable === true) other.reusable = true;
      }
      if (JSON.stringify(cut) !== JSON.stringify(whole)) expect.fail(`read otherwise when cut: ${JSON.stringify(cut)}`);
      for (const { headers } of whole.responses)
        if (/[\r\n\0]/.test(Object.values(headers).join(""))) expect.fail("a header of two lines");
      if (whole.refusal !== undefined) return "refused";
      const end = whole.responses.at(-1)?.reusable;
      return end === undefined ? "cut off" : end ? "answer" : "last answer";
    },
  });
  expect(new Set(outcomes.keys())).toEqual(new Set(["refused", "cut off", "answer", "last answer"]));
});

const token = fc.stringMatching(/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,12}$/).map((name) => `x-${name.toLowerCase()}`);
const value = fc.stringMatching(/^(?:[!-~\x80-\x9f\xa1-\xff](?:[\t -~\x80-\xff]{0,20}[!-~\x80-\x9f\xa1-\xff])?)?$/);
const answer = fc.record({
  status: fc.integer({ min: 200, max: 599 }).filter((status) => status !== 204 && status !== 304),
  headers: fc.uniqueArray(fc.tuple(token, value), { selector: ([name]) => name, maxLength: 5 }),
  parts: fc.array(
    fc.uint8Array({ minLength: 1, maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
    { maxLength: 5 },
  ),
  framing: fc.constantFrom("length", "chunks", "close"),
  hints: fc.boolean(),
});
type Answer = typeof answer extends fc.Arbitrary<infer T> ? T : never;

function written({ status, headers, parts, framing, hints }: Answer): Buffer {
  const body = Buffer.concat(parts);
  const length = { length: [["content-length", body.length]], chunks: [["transfer-encoding", "chunked"]], close: [] };
  const fields = [...headers, ...length[framing]].map(([name, text]) => `${name}: ${text}\r\n`).join("");
  const early = hints ? "HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n" : "";
  const chunks = parts.flatMap((part) => [Buffer.from(`${part.length.toString(16)}\r\n`), part, Buffer.from("\r\n")]);
  const content = framing === "chunks" ? [...chunks, Buffer.from("0\r\n\r\n")] : [body];
  return Buffer.concat([Buffer.from(`${early}HTTP/1.1 ${status} X\r\n${fields}\r\n`, "latin1"), ...content]);
}

it("SE-5 a good answer is read as it was written, however it is cut", { timeout: FUZZ_MS }, () => {
  const { runs, seed } = settings(1000);
  const property = fc.property(answer, fc.nat(), (given, cut) => {
    const { status, headers, parts, framing } = given;
    const { responses, refusal } = read(cutUp(written(given), randomFrom(cut)));
    expect(refusal).toBeUndefined();
    const body = Buffer.concat(parts).toString("latin1");
    expect(responses).toMatchObject([{ status, body, reusable: framing !== "close" }]);
    expect(responses[0]?.headers).toMatchObject(Object.fromEntries(headers));
  });
  fc.assert(property, { numRuns: Math.min(runs, 100_000), seed });
});

/** How the server leaves a connection after what it wrote. */
const ENDINGS = ["end", "reset", "stay"] as const;

interface Script {
  readonly pieces: readonly Buffer[];
  readonly ending: (typeof ENDINGS)[number];
}

let server: Server;
let sockets: Sockets;
const scripts = new Map<string, Script>();

beforeAll(async () => {
  server = createServer((socket) => socket.on("error", () => undefined).on("data", (head) => play(socket, head)));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  // eslint-disable-next-line typescript/no-unsafe-type-assertion -- a TCP server has an address of this form
  const { port } = server.address() as AddressInfo;
  sockets = new Sockets(new URL(`http://127.0.0.1:${port}/here`));
});

afterAll(async () => {
  sockets.close();
  await new Promise((resolve) => server.close(resolve));
});

/** Does to a connection what the script of its request says. */
function play(socket: Socket, head: Buffer): void {
  const script = scripts.get(/^x-input: (\d+)/m.exec(head.toString("latin1"))?.[1] ?? "");
  for (const piece of script?.pieces ?? []) socket.write(piece);
  if (script?.ending === "end") socket.end();
  else if (script?.ending === "reset") socket.write("", () => socket.resetAndDestroy());
}

/** One request; gives what came of it. */
function ask(number: string, ending: Script["ending"]): Promise<string> {
  return new Promise((resolve, reject) => {
    let body: MessageBody | undefined;
    let told = 0;
    const tell = (outcome: string) => {
      clearTimeout(impatient);
      if (++told > 1) reject(new Error(`told again: ${outcome}`));
      else resolve(outcome);
    };
    const receiver: Receiver = {
      onHead: (status, headers) => {
        if (told > 0) reject(new Error("a head after the end"));
        const ignore = () => undefined;
        const reader = { inSession: true, position: startPosition(), onMessage: ignore, onOverflow: ignore };
        body = messageBody(status, headers, reader);
      },
      onBody: (chunk) => (body ?? expect.fail("a body before its head")).push(chunk),
      onEnd: () => {
        body?.end();
        // Whatever it is, there must be words for it.
        tell(body?.failure() === undefined ? "5xx: an end without a head" : "answer");
      },
      onError: (error) => tell(error.kind),
    };
    const sent = sockets.dispatch({ method: "GET", fields: `x-input: ${number}\r\n` }, receiver);
    // What stays open without an end is given up; that too is told.
    const impatient = setTimeout(
      () => sent.abort(new HubError("Cancelled", "Given up")),
      ending === "stay" ? 5 : 60_000,
    );
  });
}

it(
  "SE-5 T20 whatever a server sends, and however it ends, whoever asked is told once",
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
