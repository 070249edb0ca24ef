// Connections that are read without Node's parser, on a real server: which requests are answered there, which are handed over to
// Node, and that clients see no difference.

import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { connect, type Socket } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { FastPathFront } from "./front.ts";
import type { WholeRequest } from "../../protocol/serve/http-request.ts";
import type { HttpResponse } from "../../protocol/serve/http-response.ts";
import type { FastPathTimeouts } from "./fast-connection.ts";
import { listen, portOf } from "../../../../test/support/sockets.ts";

const ends: (() => void | Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
});

const closed = (socket: Socket) => new Promise<void>((resolve) => void socket.once("close", () => resolve()));

type Handler = (request: WholeRequest, response: HttpResponse) => boolean;

/** Echoes the body, with a header that names the parser. */
const echo: Handler = ({ body }, response) => {
  response.send(200, { "x-by": "us" }, body, "<", ">");
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

const WAIT: FastPathTimeouts = { headers: 60_000, idle: 60_000, unread: 60_000 };

async function serve(handler: Handler, waitMs: Partial<FastPathTimeouts> = {}) {
  const server = createServer(nodeEcho);
  const front = new FastPathFront(server, handler, { timeoutsMs: { ...WAIT, ...waitMs }, headers: "" });
  await listen(server);
  ends.push(
    () => new Promise((resolve) => server.close(resolve)),
    () => (front.destroy(), server.closeAllConnections()),
  );
  const port = portOf(server);
  return { front, client: () => Client.open(port, server) };
}

/** Yields to the event loop until the condition holds. */
async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => setImmediate(resolve));
}

/** Sends raw bytes and parses the answers. */
class Client {
  readonly socket: Socket;
  /** The server's side of the connection, in this process. */
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

  /** Sends each chunk after the previous one was read, so that it is read separately. */
  async send(...pieces: string[]): Promise<void> {
    for (const piece of pieces) {
      const read = this.theirs.bytesRead + Buffer.byteLength(piece);
      this.socket.write(piece);
      await until(() => this.theirs.bytesRead >= read || this.theirs.destroyed);
    }
  }

  /** The next answer: its status, the parser that read the request, and its body. */
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
  it("GR-7 are answered in order, with the same headers as by Node", async () => {
    const client = await (await serve(echo)).client();
    for (const body of ["one", "two", "\u00fcber", ""]) {
      await client.send(post(body));
      const answer = await client.answer();
      expect(by(answer)).toBe(`us <${body}>`);
      expect(answer.head).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
      expect(answer.head).toMatch(/\r\ndate: \w{3}, .* GMT\r\nconnection: keep-alive\r\nkeep-alive: timeout=60$/);
    }
  });

  it("GR-7 may arrive in chunks after a complete head", async () => {
    const client = await (await serve(echo)).client();
    const request = post("0123456789");
    const body = request.length - 10;
    await client.send(request.slice(0, body), request.slice(body));
    expect(by(await client.answer())).toBe("us <0123456789>");
    await client.send(request.slice(0, body + 2), request.slice(body + 2, body + 5), request.slice(body + 5));
    expect(by(await client.answer())).toBe("us <0123456789>");
  });

  it("GR-7 that are pipelined are answered in order", async () => {
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
    // The other two requests were pipelined, so they are handed over to Node.
    const answers = [await client.answer(), await client.answer(), await client.answer()];
    expect(answers.map(by)).toEqual(["us <first>", "node <second>", "node <third>"]);
  });

  it("T24 an answer of any size is complete", async () => {
    const large = "x".repeat(3_000_000);
    const { client: open } = await serve((_, response) => {
      response.send(200, undefined, Buffer.from(large), "<", ">");
      return true;
    });
    const client = await open();
    await client.send(post("a"));
    expect((await client.answer()).body).toBe(`<${large}>`);
    await client.send(post("a"));
    expect((await client.answer()).body).toHaveLength(large.length + 2);
  });
});

describe("other requests are handed over to Node", () => {
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

  it("T21 a request whose body is late", async () => {
    const client = await (await serve(echo)).client();
    const text = post("late");
    await client.send(text.slice(0, -2));
    // The hand-over to Node clears the timeout last.
    await until(() => client.theirs.timeout === 0);
    await client.send(text.slice(-2));
    expect(by(await client.answer())).toBe("node <late>");
  });

  it("T06 a request that the handler declines, with its body", async () => {
    const client = await (await serve(() => false)).client();
    await client.send(post("mine"), post("and this"));
    expect([by(await client.answer()), by(await client.answer())]).toEqual(["node <mine>", "node <and this>"]);
  });
});

describe("answers that take time", () => {
  /** Keeps the response of each request; the test answers. */
  async function holding(waitMs: Partial<FastPathTimeouts> = {}) {
    const responses: HttpResponse[] = [];
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

  it("F46 a client that disconnects is detected, and an answer to it is not an error", async () => {
    const { client: open, held, gone } = await holding();
    const client = await open();
    await client.send(post("x"));
    const response = await held(1);
    expect(response.isOver).toBe(false);
    client.socket.destroy();
    await until(() => gone.length > 0);
    expect(response.isOver).toBe(true);
    response.send(200, undefined, Buffer.from("late"));
  });

  it("F46 an answer that was sent arrives although the connection is closed", async () => {
    const { client: open, held, gone } = await holding();
    const client = await open();
    await client.send(post("x"));
    (await held(1)).send(202, undefined, Buffer.alloc(0));
    expect((await client.answer()).head).toContain("202 Accepted");
    client.socket.destroy();
    const other = await open();
    await other.send(post("y"));
    await held(2);
    expect(gone).toEqual([]);
  });

  it("GR-7 may become streams, after which the connection can be used again", async () => {
    const { client: open, held, gone } = await holding();
    const client = await open();
    await client.send(post("x"));
    const response = await held(1);
    const stream = response.stream();
    expect(response.stream()).toBe(stream);
    stream.writeHead(200, { "content-type": "text/event-stream" });
    stream.write("data: 1\n\n");
    const { head } = await client.answer();
    expect(head).toMatch(/transfer-encoding: chunked/i);
    stream.end("data: 2\n\n");
    await once(stream, "close");
    expect([response.isOver, gone]).toEqual([true, [1]]);
    await client.send(post("y"));
    (await held(2)).send(200, { "x-by": "us" }, Buffer.from("z"));
    let answer = await client.answer().catch(() => undefined);
    // The chunks of the stream come first.
    while (answer !== undefined && !answer.head.includes("x-by")) answer = await client.answer();
    expect(answer?.body).toBe("z");
  });

  it("F46 a client that closes its stream is detected", async () => {
    const { client: open, held, gone } = await holding();
    const client = await open();
    await client.send(post("x"));
    const stream = (await held(1)).stream();
    stream.writeHead(200, { "content-type": "text/event-stream" });
    stream.flushHeaders();
    await client.answer();
    client.socket.destroy();
    await once(stream, "close");
    expect(gone).toEqual([1]);
  });

  it("F42 during a drain, idle connections are closed at once and others after their answer", async () => {
    const { client: open, held, front } = await holding();
    const [idle, busy] = [await open(), await open()];
    await idle.send(post("x"));
    (await held(1)).send(202, undefined, Buffer.alloc(0));
    await idle.answer();
    await busy.send(post("y"));
    const response = await held(2);
    front.drain();
    await closed(idle.socket);
    response.send(200, undefined, Buffer.from("done"));
    const { body, head } = await busy.answer();
    expect([body, /\r\nconnection: close/.test(head)]).toEqual(["done", true]);
    await closed(busy.socket);
  });

  it("F42 a stream that ends during a drain closes its connection", async () => {
    const { client: open, held, front } = await holding();
    const client = await open();
    await client.send(post("x"));
    const response = await held(1);
    front.drain();
    response.stream().writeHead(200).end("bye");
    expect((await client.answer()).head).toMatch(/connection: close/i);
    await closed(client.socket);
  });
});

describe("slow clients", () => {
  it("T21 a connection without a request gets 408 and is closed", async () => {
    const client = await (await serve(echo, { headers: 50 })).client();
    expect((await client.answer()).status).toBe(408);
    await closed(client.socket);
  });

  it.each([
    ["that is new", []],
    ["that has asked before", [post("before")]],
  ])("F43 a connection %s is not closed because of a stall of the hub", async (_, before) => {
    const client = await (await serve(echo, { headers: 1000, idle: 1000 })).client();
    await client.send(...before);
    for (const request of before) expect(by(await client.answer())).toBe(`us <${request.slice(-6)}>`);
    client.socket.write(post("meanwhile"));
    for (const end = performance.now() + 1200; performance.now() < end;);
    expect(by(await client.answer())).toBe("us <meanwhile>");
  });

  it("T21 an idle connection is closed", async () => {
    const client = await (await serve(echo, { idle: 50 })).client();
    await client.send(post("x"));
    expect((await client.answer()).head).toContain("keep-alive: timeout=0");
    await closed(client.socket);
  });

  it("T21 a client that does not read its answer is closed, and its next request is not handled", async () => {
    let asked = 0;
    const { client: open } = await serve(
      (_, response) => {
        asked++;
        response.send(200, undefined, Buffer.alloc(20_000_000));
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
