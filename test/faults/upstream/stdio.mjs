// The scripted upstream on stdin and stdout: the faults of a pipe, by name.

import { closeSync } from "node:fs";
import { answer, errorLine, notificationLine, onMessage, resultLine } from "../../fixtures/servers/lib.mjs";
import { processFaults } from "./process.mjs";

const put = (bytes) => new Promise((resolve) => process.stdout.write(bytes, resolve));
const WRONG = { content: [{ type: "text", text: "WRONG" }] };
const CHUNK = Buffer.alloc(1 << 20, "x");

/** Each fault gets the correct line and the context of the request. */
const FAULTS = {
  answer: ({ line }) => put(`${line}\n`),
  silence: () => undefined,
  crlf: ({ line }) => put(`${line}\r\n`),
  twice: ({ line, id }) => put(`${line}\n${resultLine(id, WRONG)}\n`),
  /** Answers with other ids first; "text" is the correct number as a string. */
  wrongId: ({ line, id, step: { ids } }) => {
    const lines = ids.map((other) => resultLine(other === "text" ? String(id) : other, WRONG));
    return put([...lines, line, ""].join("\n"));
  },
  /** Invalid lines, base64-encoded if they are not text; then the answer. */
  garbage: ({ line, step: { lines = [], base64 } }) => {
    const bytes = base64 === undefined ? Buffer.alloc(0) : Buffer.from(base64, "base64");
    return put(Buffer.concat([...lines.map((text) => Buffer.from(`${text}\n`)), bytes, Buffer.from(`${line}\n`)]));
  },
  slices: async ({ line, step: { size } }) => {
    const bytes = Buffer.from(`${line}\n`);
    for (let at = 0; at < bytes.length; at += size) {
      await put(bytes.subarray(at, at + size));
      await new Promise(setImmediate);
    }
  },
  /** A line that never ends, of this number of bytes. */
  huge: async ({ step: { bytes } }) => {
    for (let left = bytes; left > 0; left -= CHUNK.length) await put(CHUNK);
  },
  /** Exits after half of the answer. */
  half: async ({ line, step: { code = 1 } }) => {
    await put(line.slice(0, line.length >> 1));
    process.exit(code);
  },
  /** Exits after the answer without its newline. */
  unended: async ({ line, step: { code = 0 } }) => {
    await put(line);
    process.exit(code);
  },
  closeStdout: () => {
    setInterval(() => undefined, 60_000);
    closeSync(1);
  },
  /** Stops reading. */
  deaf: () => {
    setInterval(() => undefined, 60_000);
    process.stdin.pause();
  },
  error: ({ id, step: { error } }) => put(`${errorLine(id, error)}\n`),
  toolError: ({ id }) => put(`${resultLine(id, { content: [{ type: "text", text: "it failed" }], isError: true })}\n`),
  flood: async ({ line, step: { count, method = "notifications/tools/list_changed", params } }) => {
    const one = `${notificationLine(method, params)}\n`;
    for (let left = count; left > 0; left -= 1000) await put(one.repeat(Math.min(left, 1000)));
    await put(`${line}\n`);
  },
  /** Sends a request to the hub first and records the reply. */
  asks: async ({ line, step: { method } }) => {
    await put(`${JSON.stringify({ jsonrpc: "2.0", id: "from-server", method, params: {} })}\n`);
    await put(`${line}\n`);
  },
  exit: processFaults.exit,
  signal: processFaults.signal,
};

/** The correct answer follows these. */
const BEFORE_ANSWER = ["freeze", "hold", "late", "fork", "floodStderr"];
for (const name of BEFORE_ANSWER) {
  FAULTS[name] = async (context) => {
    await processFaults[name](context);
    await FAULTS.answer(context);
  };
}

export function serveStdio({ scenario, script, spy, offer }) {
  const notify = (method, params) => void put(`${notificationLine(method, params)}\n`);
  const onEnd = () => {
    spy.write("eof");
    if (scenario.ignoreEof === true) setInterval(() => undefined, 60_000);
    else process.exit(0);
  };
  onMessage(async (message) => {
    const { id, method, params } = message;
    if (method === undefined) return spy.write("answered", { error: message.error?.code ?? null });
    if (id === undefined) return spy.write("told", { method, requestId: params?.requestId });
    const step = script.next(message);
    const line = await answer(message, offer.handlers, notify);
    if (line !== undefined) await FAULTS[step.do]({ line, id, message, step, spy });
  }, onEnd);
}
