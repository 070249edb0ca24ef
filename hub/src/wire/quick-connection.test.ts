// Connections that are read without Node's parser, on a real server: what is answered there, what becomes Node's, and that no
// client can tell the difference.

import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { connect, type AddressInfo, type Socket } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { QuickFront } from "./quick-front.ts";
import type { QuickPatience, QuickRequest } from "./quick-connection.ts";
import type { QuickResponse } from "./quick-response.ts";

const ends: (() => void | Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
});

const closed = (socket: Socket) => new Promise<void>((resolve) => void socket.once("close", () => resolve()));

type Quick = (request: QuickRequest, response: QuickResponse) => boolean;

/** What the answer is, and who gave it. */
const echo: Quick = ({ body }, response) => {
  response.send(200, { "x-by": "us" }, "<", body, ">");
  return true;
};

function nodeEcho(request: IncomingMessage, response: ServerResponse): void {
  const chunks: Buffer[] = [];
  request.on("data", (chunk: Buffer) => chunks.push(chunk));
  request.on("end", () => {
    const body = Buffer.concat([Buffer.from("<"), ...chunks, Buffer.from(">")]);
    response.writeHead(200, { "x-by": "node", "content-length": body.length });
    response.end(body);
  });
}

const WAIT: QuickPatience = { headers: 60_000, idle: 60_000, unread: 60_000 };

async function serve(quick: Quick, waitMs: Partial<QuickPatience> = {}) {
  const server = createServer(nodeEcho);
  const front = new QuickFront(server, quick, { ...WAIT, ...waitMs });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  ends.push(
    () => new Promise((resolve) => server.close(resolve)),
    () => (front.destroy(), server.closeAllConnections()),
  );
  const { port } = server.address() as AddressInfo;
  return { front, client: () => Client.open(port, server) };
}

/** Lets everything happen that is due, until something has. */
async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => setImmediate(resolve));
}

/** Sends bytes as they are, and takes answers off what comes back. */
class Client {
  readonly socket: Socket;
  /** The other end of it, in this process. */
  readonly theirs: Socket;
  #bytes = Buffer.alloc(0);
  #onMore = () => {};

  constructor(socket: Socket, theirs: Socket) {
    this.socket = socket;
    this.theirs = theirs;
    socket.on("data", (chunk: Buffer) => {
      this.#bytes = Buffer.concat([this.#bytes, chunk]);
      this.#onMore();
    });
    socket.on("close", () => this.#onMore());
    socket.on("error", () => undefined);
  }

  static async open(port: number, server: Server): Promise<Client> {
    const connected = once(server, "connection");
    const socket = connect(port, "127.0.0.1").setNoDelay();
    ends.push(() => void socket.destroy());
    await once(socket, "connect");
    const [theirs] = (await connected) as [Socket];
    return new Client(socket, theirs);
  }

  /** Each piece when the one before was read, so that it is read by itself. */
  async send(...pieces: string[]): Promise<void> {
    for (const piece of pieces) {
      const read = this.theirs.bytesRead + Buffer.byteLength(piece);
      this.socket.write(piece);
      await until(() => this.theirs.bytesRead >= read || this.theirs.destroyed);
    }
  }

  /** The next answer: its status, who gave it, its body. */
  async answer(): Promise<{ status: number; by: string | undefined; body: string; head: string }> {
    for (;;) {
      const end = this.#bytes.indexOf("\r\n\r\n");
      if (end >= 0) {
        const head = this.#bytes.toString("latin1", 0, end);
        const length = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0);
        if (this.#bytes.length >= end + 4 + length) {
          const body = this.#bytes.toString("utf8", end + 4, end + 4 + length);
          this.#bytes = this.#bytes.subarray(end + 4 + length);
          return { status: Number(head.split(" ")[1]), by: /x-by: (\w+)/.exec(head)?.[1], body, head };
        }
      }
      if (this.socket.destroyed) throw new Error(`No answer, but ${JSON.stringify(this.#bytes.toString())}`);
      await new Promise<void>((resolve) => (this.#onMore = resolve));
    }
  }
}

const post = (body: string, ...fields: string[]) =>
  ["POST /mcp HTTP/1.1", "Host: localhost", `Content-Length: ${Buffer.byteLength(body)}`, ...fields, "", body].join(
    "\r\n",
  );

const by = ({ by: who, body }: { by: string | undefined; body: string }) => `${who} ${body}`;

describe("ordinary requests", () => {
  it("GR-7 are answered one after the other, with all that Node's answers say", async () => {
    const client = await (await serve(echo)).client();
    for (const body of ["one", "two", "\u00fcber", ""]) {
      await client.send(post(body));
      const answer = await client.answer();
      expect(by(answer)).toBe(`us <${body}>`);
      expect(answer.head).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
      expect(answer.head).toMatch(/\r\ndate: \w{3}, .* GMT\r\nconnection: keep-alive\r\nkeep-alive: timeout=60$/);
    }
  });

  it("GR-7 may come in pieces, if their head is whole", async () => {
    const client = await (await serve(echo)).client();
    const request = post("0123456789");
    const body = request.length - 10;
    await client.send(request.slice(0, body), request.slice(body));
    expect(by(await client.answer())).toBe("us <0123456789>");
    await client.send(request.slice(0, body + 2), request.slice(body + 2, body + 5), request.slice(body + 5));
    expect(by(await client.answer())).toBe("us <0123456789>");
  });

  it("GR-7 that are sent ahead are answered in their order", async () => {
    const waiting: (() => void)[] = [];
    const { client: open } = await serve((request, response) => {
      waiting.push(() => echo(request, response));
      return true;
    });
    const client = await open();
    await client.send(post("first"), post("second"));
    expect(waiting).toHaveLength(1);
    waiting.shift()?.();
    expect(by(await client.answer())).toBe("us <first>");
    await until(() => waiting.length > 0);
    waiting.shift()?.();
    expect(by(await client.answer())).toBe("us <second>");
    await client.send(post("first"), post("second"), post("third"));
    waiting.shift()?.();
    // The others are two at once by now, and so they are Node's.
    const answers = [await client.answer(), await client.answer(), await client.answer()];
    expect(answers.map(by)).toEqual(["us <first>", "node <second>", "node <third>"]);
  });

  it("T24 an answer of any size arrives whole", async () => {
    const large = "x".repeat(3_000_000);
    const { client: open } = await serve((_, response) => {
      response.send(200, undefined, "<", Buffer.from(large), ">");
      return true;
    });
    const client = await open();
    await client.send(post("a"));
    expect((await client.answer()).body).toBe(`<${large}>`);
    await client.send(post("a"));
    expect((await client.answer()).body).toHaveLength(large.length + 2);
  });
});

describe("whatever else comes is Node's", () => {
  const request = post("body");
  it.each([
    ["a head in pieces", [request.slice(0, 20), request.slice(20)], ["node <body>"]],
    ["a byte at first", [request.slice(0, 1), request.slice(1)], ["node <body>"]],
    ["a body in many pieces", [request.slice(0, -4), "b", "o", "d", "y"], ["node <body>"]],
    ["two requests at once", [post("a") + post("b")], ["node <a>", "node <b>"]],
    ["one and a half", [post("a") + post("b").slice(0, 9), post("b").slice(9)], ["node <a>", "node <b>"]],
    ["another method", ["PUT /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\n\r\nx"], ["node <x>"]],
    [
      "chunks",
      ["POST /mcp HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n"],
      ["node <x>"],
    ],
    ["a long body", [post("y".repeat(70_000))], [`node <${"y".repeat(70_000)}>`]],
    ["a long head", [post("z", `X-Long: ${"h".repeat(9000)}`)], ["node <z>"]],
    [
      "ordinary, then not, then ordinary",
      [post("a"), post("b", "Expect: 100-continue"), post("c")],
      ["us <a>", "100", "node <b>", "node <c>"],
    ],
  ])("GR-7 %s", async (_, pieces, expected) => {
    const client = await (await serve(echo)).client();
    await client.send(...pieces);
    const answers: string[] = [];
    for (const one of expected) {
      const answer = await client.answer();
      answers.push(one === "100" ? String(answer.status) : by(answer));
    }
    expect(answers).toEqual(expected);
  });

  it("T21 a body that does not come", async () => {
    const client = await (await serve(echo)).client();
    const text = post("late");
    await client.send(text.slice(0, -2));
    // The timer that gives it to Node is the last that is set here.
    await until(() => client.theirs.timeout === 0);
    await client.send(text.slice(-2));
    expect(by(await client.answer())).toBe("node <late>");
  });

  it("T06 a request that nobody here wants: all of it", async () => {
    const client = await (await serve(() => false)).client();
    await client.send(post("mine"), post("and this"));
    expect([by(await client.answer()), by(await client.answer())]).toEqual(["node <mine>", "node <and this>"]);
  });
});

describe("answers that take long", () => {
  /** Keeps the response of each request, and answers when told. */
  async function holding(waitMs: Partial<QuickPatience> = {}) {
    const responses: QuickResponse[] = [];
    const gone: number[] = [];
    let onRequest = () => {};
    const served = await serve((_, response) => {
      const number = responses.push(response);
      response.onceClosed(() => gone.push(number));
      onRequest();
      return true;
    }, waitMs);
    const held = async (count: number) => {
      while (responses.length < count) await new Promise<void>((resolve) => (onRequest = resolve));
      return responses[count - 1]!;
    };
    return { ...served, held, gone };
  }

  it("F46 a client that leaves is noticed, and an answer to it is no failure", async () => {
    const { client: open, held, gone } = await holding();
    const client = await open();
    await client.send(post("x"));
    const response = await held(1);
    expect([response.destroyed, response.writableEnded]).toEqual([false, false]);
    client.socket.destroy();
    await until(() => gone.length > 0);
    expect(response.destroyed).toBe(true);
    response.send(200, undefined, "", Buffer.from("late"), "");
  });

  it("F46 an answer that was sent is not taken back by the end of its connection", async () => {
    const { client: open, held, gone } = await holding();
    const client = await open();
    await client.send(post("x"));
    (await held(1)).send(202, undefined, "", Buffer.alloc(0), "");
    expect((await client.answer()).head).toContain("202 Accepted");
    client.socket.destroy();
    const other = await open();
    await other.send(post("y"));
    await held(2);
    expect(gone).toEqual([]);
  });

  it("GR-7 may become streams, after which the connection goes on", async () => {
    const { client: open, held, gone } = await holding();
    const client = await open();
    await client.send(post("x"));
    const response = await held(1);
    const stream = response.toStream();
    expect(response.toStream()).toBe(stream);
    stream.writeHead(200, { "content-type": "text/event-stream" });
    stream.write("data: 1\n\n");
    const { head } = await client.answer();
    expect(head).toMatch(/transfer-encoding: chunked/i);
    stream.end("data: 2\n\n");
    await once(stream, "close");
    expect([response.writableEnded, gone]).toEqual([true, [1]]);
    await client.send(post("y"));
    (await held(2)).send(200, { "x-by": "us" }, "", Buffer.from("z"), "");
    let answer = await client.answer().catch(() => undefined);
    // The chunks of the stream come first.
    while (answer !== undefined && !answer.head.includes("x-by")) answer = await client.answer();
    expect(answer?.body).toBe("z");
  });

  it("F46 a client that leaves its stream is noticed", async () => {
    const { client: open, held, gone } = await holding();
    const client = await open();
    await client.send(post("x"));
    const stream = (await held(1)).toStream();
    stream.writeHead(200, { "content-type": "text/event-stream" });
    stream.flushHeaders();
    await client.answer();
    client.socket.destroy();
    await once(stream, "close");
    expect(gone).toEqual([1]);
  });

  it("F42 while it drains, idle connections end at once and others with their answer", async () => {
    const { client: open, held, front } = await holding();
    const [idle, busy] = [await open(), await open()];
    await idle.send(post("x"));
    (await held(1)).send(202, undefined, "", Buffer.alloc(0), "");
    await idle.answer();
    await busy.send(post("y"));
    const response = await held(2);
    front.drain();
    await closed(idle.socket);
    response.send(200, undefined, "", Buffer.from("done"), "");
    const { body, head } = await busy.answer();
    expect([body, /\r\nconnection: close/.test(head)]).toEqual(["done", true]);
    await closed(busy.socket);
  });

  it("F42 a stream that ends while it drains ends its connection", async () => {
    const { client: open, held, front } = await holding();
    const client = await open();
    await client.send(post("x"));
    const response = await held(1);
    front.drain();
    response.toStream().writeHead(200).end("bye");
    expect((await client.answer()).head).toMatch(/connection: close/i);
    await closed(client.socket);
  });
});

describe("clients that are slow", () => {
  it("T21 a connection that says nothing is told so, and closed", async () => {
    const client = await (await serve(echo, { headers: 50 })).client();
    expect((await client.answer()).status).toBe(408);
    await closed(client.socket);
  });

  it.each([
    ["that is new", []],
    ["that has asked before", [post("before")]],
  ])("F43 a connection %s is not closed for the time in which the hub stood still", async (_, before) => {
    const client = await (await serve(echo, { headers: 1000, idle: 1000 })).client();
    await client.send(...before);
    for (const request of before) expect(by(await client.answer())).toBe(`us <${request.slice(-6)}>`);
    client.socket.write(post("meanwhile"));
    for (const end = performance.now() + 1200; performance.now() < end;);
    expect(by(await client.answer())).toBe("us <meanwhile>");
  });

  it("T21 one that asks no more is closed", async () => {
    const client = await (await serve(echo, { idle: 50 })).client();
    await client.send(post("x"));
    expect((await client.answer()).head).toContain("keep-alive: timeout=0");
    await closed(client.socket);
  });

  it("T21 one that does not read its answer is closed, and is asked for nothing more before", async () => {
    let asked = 0;
    const { client: open } = await serve(
      (_, response) => {
        asked++;
        response.send(200, undefined, "", Buffer.alloc(20_000_000), "");
        return true;
      },
      { unread: 100 },
    );
    const client = await open();
    client.socket.pause();
    await client.send(post("x"));
    client.socket.write(post("y"));
    await closed(client.theirs);
    expect(asked).toBe(1);
  });
});
