// The scripted upstream on Streamable HTTP: the faults of a response, by name. Legacy servers have sessions.

import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { answer, errorLine, notificationLine, resultLine, sendJson } from "../../fixtures/servers/lib.mjs";
import { processFaults } from "./process.mjs";

const SSE = { "content-type": "text/event-stream" };
const event = (line) => `event: message\ndata: ${line}\n\n`;
const progress = (token, n) => event(notificationLine("notifications/progress", { progressToken: token, progress: n }));
const STATUS_OF_CODE = new Map([
  [-32601, 404],
  [-32602, 400],
  [-32022, 400],
]);

/** Each fault gets the correct answer and the context of the request. */
const FAULTS = {
  answer: ({ response, line, headers, modern }) => {
    const { code } = JSON.parse(line).error ?? {};
    sendJson(response, (modern && STATUS_OF_CODE.get(code)) || 200, line, headers);
  },
  silence: () => undefined,
  status: ({ response, step: { status, headers = {}, body = "<html>sorry</html>" } }) =>
    response.writeHead(status, headers).end(body),
  /** As after a restart: every session is unknown. */
  forget: ({ response, sessions }) => {
    sessions.clear();
    sendJson(response, 404, errorLine(null, { code: -32001, message: "Session not found" }));
  },
  error: ({ response, id, step: { error } }) => sendJson(response, 200, errorLine(id, error)),
  toolError: ({ response, id }) =>
    sendJson(response, 200, resultLine(id, { content: [{ type: "text", text: "it failed" }], isError: true })),
  contentType: ({ response, line, step: { type } }) => response.writeHead(200, { "content-type": type }).end(line),
  body: ({ response, step: { body, type = "application/json" } }) =>
    response.writeHead(200, { "content-type": type }).end(body),
  /** Resets the connection after this number of bytes of the response: 0 is before the first header. */
  reset: ({ response, line, step: { bytes = 0 } }) => {
    const { socket } = response;
    const head = `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(line)}\r\n\r\n`;
    const whole = Buffer.from(head + line);
    if (bytes === 0) return socket.resetAndDestroy();
    socket.write(whole.subarray(0, Math.min(bytes, whole.length - 1)), () => socket.resetAndDestroy());
  },
  /** The answer in an event stream, in one of several unusual but legal forms, after a number of progress notifications. */
  sse: ({ response, line, token, headers, step: { before = "", pad = 0, reports = 0, crlf = false } }) => {
    response.writeHead(200, { ...SSE, ...headers });
    const comments = pad === 0 ? "" : `: ${"k".repeat(pad)}\n\n`;
    const told = Array.from({ length: reports }, (_, n) => progress(token, n + 1)).join("");
    const text = before + comments + told + event(line);
    response.end(crlf ? text.replaceAll("\n", "\r\n") : text);
  },
  /** A stream that ends, or breaks, before the answer. */
  sseCut: ({ response, token, step: { reports = 1, hard = true, tail = "" } }) => {
    response.writeHead(200, SSE);
    const told = Array.from({ length: reports }, (_, n) => progress(token, n + 1)).join("");
    response.write(`: here\n\n${told}${tail}`, () => (hard ? response.socket?.resetAndDestroy() : response.end()));
  },
  /** One event that never ends, of this number of bytes. */
  sseHuge: ({ response, step: { bytes } }) => {
    response.writeHead(200, SSE).write("data: ");
    const chunk = "x".repeat(1 << 20);
    let left = bytes;
    const more = () => {
      if (response.destroyed || left <= 0) return;
      left -= chunk.length;
      response.write(chunk, more);
    };
    more();
  },
  /** A compressed response that expands to megabytes. */
  gzip: ({ response, step: { bytes } }) =>
    response
      .writeHead(200, { "content-type": "application/json", "content-encoding": "gzip" })
      .end(gzipSync(Buffer.alloc(bytes, " "))),
  exit: processFaults.exit,
  signal: processFaults.signal,
};

for (const name of ["freeze", "hold", "late", "fork"]) {
  FAULTS[name] = async (context) => {
    await processFaults[name](context);
    if (!context.response.destroyed) FAULTS.answer(context);
  };
}

export function serveHttp({ scenario, script, spy, offer }) {
  const modern = offer.era === "modern";
  /** By session id; the value is the GET stream, if there is one. */
  const sessions = new Map();
  const listener = async (request, response) => {
    const body = await readBody(request).catch(() => undefined); // the client disconnected during the request
    if (body === undefined) return;
    const message = request.method === "POST" ? JSON.parse(body) : undefined;
    if (message === undefined) return modern ? response.writeHead(405).end() : unasked(request, response, sessions);
    const { id, method, params } = message;
    if (id === undefined || method === undefined) {
      spy.write("told", { method, requestId: params?.requestId });
      return response.writeHead(202).end();
    }
    response.once("close", () => {
      if (!response.writableFinished) spy.write("left", { method });
    });
    const step = script.next(message);
    const context = { response, id, message, step, spy, sessions, modern, token: params?._meta?.progressToken };
    if (method === "subscriptions/listen" && modern) return listen(response, message, offer);
    if (modern) return respond({ ...context, headers: {} }, offer);
    if (method === "initialize") {
      const session = randomUUID();
      sessions.set(session, undefined);
      return respond({ ...context, headers: { "mcp-session-id": session } }, offer);
    }
    const session = request.headers["mcp-session-id"];
    if (session === undefined || !sessions.has(session)) {
      const [status, text] = session === undefined ? [400, "Server not initialized"] : [404, "Session not found"];
      return sendJson(response, status, errorLine(null, { code: -32000, message: text }));
    }
    await respond({ ...context, headers: {} }, offer);
  };
  const { tls, port = 0 } = scenario;
  const onRequest = (request, response) => void listener(request, response);
  const server =
    tls === undefined
      ? createServer(onRequest)
      : createTlsServer({ ...tls, key: readFileSync(tls.key), cert: readFileSync(tls.cert) }, onRequest);
  server.listen(port, "127.0.0.1", () => {
    process.stdout.write(`http${tls === undefined ? "" : "s"}://127.0.0.1:${server.address().port}/mcp\n`);
  });
}

async function readBody(request) {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

async function respond(context, offer) {
  const line = await answer(context.message, offer.handlers);
  await FAULTS[context.step.do]({ ...context, line });
}

function unasked(request, response, sessions) {
  const session = request.headers["mcp-session-id"];
  if (!sessions.has(session)) return response.writeHead(404).end();
  if (request.method === "DELETE") return sessions.delete(session) && response.writeHead(204).end();
  response.writeHead(200, SSE).flushHeaders();
  sessions.set(session, response);
}

async function listen(response, message, offer) {
  response.writeHead(200, SSE).flushHeaders();
  response.once("close", () => offer.subscriptions.delete(message.id));
  await answer(message, offer.handlers, (method, params) => response.write(event(notificationLine(method, params))));
}
