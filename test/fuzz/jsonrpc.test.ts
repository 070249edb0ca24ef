// Messages: parsing any bytes gives the same as JSON.parse; written messages are parsed back; an edit changes only its member;
// and the work is linear in the number of bytes.

import { isUtf8 } from "node:buffer";
import { isDeepStrictEqual } from "node:util";
import { expect, it } from "vitest";
import { editObject, isObject, membersOf, onOneLine } from "../../hub/src/lib/json/json.ts";
import {
  readMessage,
  writeNotification,
  writeReply,
  writeRequest,
  type Message,
} from "../../hub/src/protocol/rpc/jsonrpc.ts";
import { fuzz, FUZZ_MS } from "./fuzz.ts";
import { counted } from "./steps.ts";

const CORPUS = [
  '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a\\"b","arguments":{"x":[1,2,{"y":null}]}}}',
  '{"jsonrpc":"2.0","id":"é\\u00e9","result":{"content":[{"type":"text","text":"\\\\\\"}{"}]}}',
  '{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":0.5}}',
  '{"jsonrpc":"2.0","id":7,"error":{"code":-32601,"message":"日本"}}',
  '{ "jsonrpc" : "2.0",\r\n\t"id" : -0.0e0, "method":"x", "params" : { } }',
  '{"jsonrpc":"2.0","id":9007199254740991,"method":"\\u0000","params":{"__proto__":{"a":1},"_meta":{"k":[[[]]]}}}',
  `{"jsonrpc":"2.0","id":1,"result":${"[".repeat(70)}${"]".repeat(70)}}`,
  `{"jsonrpc":"2.0","id":1,"method":"s","params":{"text":"${'\\\\\\"'.repeat(40)}"}}`,
  '[{"jsonrpc":"2.0","id":1,"method":"ping"}]',
];

const CHANGES = { name: '"changed"', _meta: '{"n":1}', id: undefined, params: undefined };

it("F06 T20 T36 SE-5 messages are read exactly as JSON.parse reads them", { timeout: FUZZ_MS }, () => {
  const outcomes = fuzz({
    name: "json-rpc",
    corpus: CORPUS,
    quickRuns: 25_000,
    check: (input, random) => {
      const lenient = random(2) === 0;
      const message = readMessage(input, { maxDepth: 64, lenient });
      const value = parse(input);
      if (random(5) === 0) requireBoundedWork(input);
      requireEdit(input, value);
      if (message.kind === "malformed") {
        if (message.id !== undefined && isObject(value) && message.id !== value["id"]) expect.fail("another id");
        return "malformed";
      }
      if (!isObject(value)) return expect.fail("a message that is no JSON object");
      if (value["jsonrpc"] !== "2.0" && !lenient) expect.fail("another version");
      requireSame(message, value);
      const again = readMessage(onOneLine(written(message)), { maxDepth: 64 });
      if (!isDeepStrictEqual(plain(again), plain(message))) expect.fail("another message when written and read back");
      return message.kind;
    },
  });
  expect(new Set(outcomes.keys())).toEqual(new Set(["malformed", "request", "notification", "response"]));
});

function parse(input: Buffer): unknown {
  try {
    return isUtf8(input) ? JSON.parse(input.toString()) : undefined;
  } catch {
    return undefined;
  }
}

function requireSame(message: Message, value: Readonly<Record<string, unknown>>): void {
  if (message.kind !== "notification" && message.id !== value["id"]) expect.fail("another id");
  if (message.kind !== "response") {
    if (message.method !== value["method"]) expect.fail("another method");
    const params = message.params && parse(message.params.bytes);
    if (!isDeepStrictEqual(params, value["params"])) expect.fail("other params");
    return;
  }
  const { reply } = message;
  const given = reply.ok ? reply.result : reply.error;
  // The answer of a server may omit a result that is null.
  const payload = reply.ok && !Object.hasOwn(value, "result") ? null : value[reply.ok ? "result" : "error"];
  if (!isDeepStrictEqual(parse(given.bytes), payload)) expect.fail("another payload");
}

function written(message: Message): Buffer {
  if (message.kind === "request") return writeRequest(message.id, message.method, message.params?.bytes);
  if (message.kind === "notification") return writeNotification(message.method, message.params?.bytes);
  return writeReply(message.id, message.reply);
}

/** Without the bytes, whose formatting may differ. */
function plain(message: unknown): unknown {
  return JSON.parse(JSON.stringify(message, (key, value: unknown) => (key === "bytes" ? undefined : value)));
}

/** Every byte is read a bounded number of times. */
function requireBoundedWork(input: Buffer): void {
  const { bytes, steps } = counted(input);
  membersOf(bytes, 64);
  if (steps() > 6 * input.length + 20) expect.fail(`${steps()} steps for ${input.length} bytes`);
}

function requireEdit(input: Buffer, value: unknown): void {
  if (!isObject(value) || membersOf(input) === undefined) return;
  const edited = parse(editObject(input, CHANGES));
  const { id: _id, params: _params, ...rest } = value;
  const wanted = Object.assign(rest, { name: "changed", _meta: { n: 1 } });
  if (!isDeepStrictEqual(edited, wanted)) expect.fail(`edited to ${JSON.stringify(edited)}`);
}
