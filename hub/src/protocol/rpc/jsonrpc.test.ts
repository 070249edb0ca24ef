// JSON-RPC messages: which are valid, why others are not, and round trips.

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  failure,
  raw,
  rawParams,
  readMessage,
  RPC,
  success,
  writeNotification,
  writeReply,
  writeRequest,
  type ReadOptions,
} from "./jsonrpc.ts";

const read = (text: string | Buffer, options?: ReadOptions) => readMessage(Buffer.from(text), options);

/** A message on one line: its kind, its id, and what else matters. */
function summary(text: string | Buffer, options?: ReadOptions): string {
  const message = read(text, options);
  switch (message.kind) {
    case "request":
      return `request ${JSON.stringify(message.id)} ${message.method} ${message.params?.bytes.toString() ?? "-"}`;
    case "notification":
      return `notification ${message.method} ${message.params?.bytes.toString() ?? "-"}`;
    case "response": {
      const { reply } = message;
      const payload = reply.ok ? reply.result : reply.error;
      return `${reply.ok ? "result" : "error"} ${JSON.stringify(message.id)} ${payload.bytes.toString()}`;
    }
    case "malformed":
      return `${message.code} ${message.id === undefined ? "-" : JSON.stringify(message.id)}`;
  }
}

const { parseError, invalidRequest } = RPC;

describe("readMessage", () => {
  it.each([
    ['{"jsonrpc":"2.0","id":1,"method":"ping"}', "request 1 ping -"],
    ['{"jsonrpc":"2.0","id":"1","method":"ping"}', 'request "1" ping -'],
    ['{"jsonrpc":"2.0","id":"","method":"ping"}', 'request "" ping -'],
    ['{"jsonrpc":"2.0","id":0,"method":"ping"}', "request 0 ping -"],
    ['{"jsonrpc":"2.0","id":-7,"method":"ping"}', "request -7 ping -"],
    ['{"jsonrpc":"2.0","id":1.0,"method":"ping"}', "request 1 ping -"],
    ['{"jsonrpc":"2.0","id":9007199254740991,"method":"ping"}', "request 9007199254740991 ping -"],
    ['{"jsonrpc":"2.0","id":1,"method":"x","params":{}}', "request 1 x {}"],
    ['{"id":1,"params":{ "n" : 1.0 },"method":"x","jsonrpc":"2.0"}', 'request 1 x { "n" : 1.0 }'],
    ['\r\n\t {"jsonrpc":"2.0","id":1,"method":"x"} \n', "request 1 x -"],
    ['{"jsonrpc":"2.0","id":1,"\\u006dethod":"x"}', "request 1 x -"],
    ['{"jsonrpc":"2.0","method":"notifications/initialized"}', "notification notifications/initialized -"],
    [
      '{"jsonrpc":"2.0","method":"n","params":{"big":12345678901234567890}}',
      'notification n {"big":12345678901234567890}',
    ],
    ['{"jsonrpc":"2.0","id":1,"result":{"a":1.0}}', 'result 1 {"a":1.0}'],
    ['{"jsonrpc":"2.0","id":1,"result":null}', "result 1 null"],
    ['{"jsonrpc":"2.0","id":1,"result":[1, 2]}', "result 1 [1, 2]"],
    ['{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"no"}}', 'error 1 {"code":-1,"message":"no"}'],
    ['{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"no"},"result":{}}', 'error 1 {"code":-1,"message":"no"}'],
    ['{"jsonrpc":"2.0","id":1,"error":null,"result":{}}', "result 1 {}"],
  ])("CL-1 %s is: %s", (text, expected) => {
    expect(summary(text)).toBe(expected);
  });

  it.each([
    ["nothing", "", `${parseError} -`],
    ["blanks", "  \n", `${parseError} -`],
    ["no JSON", "Server started on port 3000", `${parseError} -`],
    ["half a message", '{"jsonrpc":"2.0","id":1,"met', `${parseError} -`],
    [
      "half a long message, not worth a parse",
      `{"jsonrpc":"2.0","id":1,"method":"${"x".repeat(2000)}`,
      `${invalidRequest} -`,
    ],
    ["two messages", '{"jsonrpc":"2.0","method":"a"}{"jsonrpc":"2.0","method":"b"}', `${parseError} -`],
    ["a comment", '{"jsonrpc":"2.0","method":"a"} // hi', `${parseError} -`],
    ["a trailing comma", '{"jsonrpc":"2.0","method":"a",}', `${parseError} -`],
    ["a bare NUL in a string", '{"jsonrpc":"2.0","method":"a\0"}', `${parseError} -`],
    ["a bare newline in a string", '{"jsonrpc":"2.0","method":"a\n"}', `${parseError} -`],
    ["a byte order mark", '\ufeff{"jsonrpc":"2.0","method":"a"}', `${parseError} -`],
    ["an array", "[]", `${invalidRequest} -`],
    ["a batch", '[{"jsonrpc":"2.0","id":1,"method":"ping"}]', `${invalidRequest} -`],
    ["a long batch", `[${'{"jsonrpc":"2.0","id":1,"method":"ping"},'.repeat(50)}1]`, `${invalidRequest} -`],
    ["a number", "42", `${invalidRequest} -`],
    ["null", "null", `${invalidRequest} -`],
    ["true", "true", `${invalidRequest} -`],
    ["a string", '"{}"', `${invalidRequest} -`],
    ["an empty object", "{}", `${invalidRequest} -`],
    ["no version", '{"id":1,"method":"ping"}', `${invalidRequest} 1`],
    ["version 1.0", '{"jsonrpc":"1.0","id":1,"method":"ping"}', `${invalidRequest} 1`],
    ["version as a number", '{"jsonrpc":2.0,"id":1,"method":"ping"}', `${invalidRequest} 1`],
    ["id null", '{"jsonrpc":"2.0","id":null,"method":"ping"}', `${invalidRequest} -`],
    ["id 1.5", '{"jsonrpc":"2.0","id":1.5,"method":"ping"}', `${invalidRequest} -`],
    ["id true", '{"jsonrpc":"2.0","id":true,"method":"ping"}', `${invalidRequest} -`],
    ["id as an array", '{"jsonrpc":"2.0","id":[1],"method":"ping"}', `${invalidRequest} -`],
    ["id as an object", '{"jsonrpc":"2.0","id":{},"method":"ping"}', `${invalidRequest} -`],
    ["id beyond every number", '{"jsonrpc":"2.0","id":1e400,"method":"ping"}', `${invalidRequest} -`],
    ["method as a number", '{"jsonrpc":"2.0","id":1,"method":7}', `${invalidRequest} 1`],
    ["method null", '{"jsonrpc":"2.0","id":1,"method":null}', `${invalidRequest} 1`],
    ["params as an array", '{"jsonrpc":"2.0","id":1,"method":"x","params":[1]}', `${invalidRequest} 1`],
    ["params null", '{"jsonrpc":"2.0","id":1,"method":"x","params":null}', `${invalidRequest} 1`],
    ["params as text", '{"jsonrpc":"2.0","method":"x","params":"p"}', `${invalidRequest} -`],
    ["neither request nor answer", '{"jsonrpc":"2.0","id":1}', `${invalidRequest} 1`],
    ["an error that is text", '{"jsonrpc":"2.0","id":1,"error":"no"}', `${invalidRequest} 1`],
    ["an answer without an id", '{"jsonrpc":"2.0","result":{}}', `${invalidRequest} -`],
    ["an answer with id null", '{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"x"}}', `${invalidRequest} -`],
  ])("F06 %s is refused", (_, text, expected) => {
    expect(summary(text)).toBe(expected);
  });

  it.each([
    ["no result", '{"jsonrpc":"2.0","id":1}', "result 1 null"],
    ["error null", '{"jsonrpc":"2.0","id":1,"error":null}', "result 1 null"],
    ["an error that is text", '{"jsonrpc":"2.0","id":1,"error":"no"}', `${invalidRequest} 1`],
    ["a log line with an id", '{"id":1,"level":"info","msg":"ready"}', `${invalidRequest} 1`],
  ])(
    "CL-8 a server's response without a result is null, and other objects are not responses: %s",
    (_, text, expected) => {
      expect(summary(text, { lenient: true })).toBe(expected);
    },
  );

  it.each([
    ["a bare 0xff", [0xff]],
    ["an overlong slash", [0xc0, 0xaf]],
    ["a lone surrogate", [0xed, 0xa0, 0x80]],
    ["half a character", [0xe2, 0x82]],
    ["beyond Unicode", [0xf4, 0x90, 0x80, 0x80]],
  ])("T20 invalid UTF-8 is refused: %s", (_, bytes) => {
    const text = Buffer.concat([
      Buffer.from('{"jsonrpc":"2.0","id":1,"method":"'),
      Buffer.from(bytes),
      Buffer.from('"}'),
    ]);
    expect(summary(text)).toBe(`${parseError} -`);
    expect(summary(text, { lenient: true })).toBe(`${parseError} -`);
  });

  it("T20 an escaped lone surrogate is valid JSON and keeps its bytes", () => {
    expect(summary('{"jsonrpc":"2.0","id":1,"method":"x","params":{"a":"\\ud800"}}')).toBe(
      'request 1 x {"a":"\\ud800"}',
    );
    expect(writeReply("\ud800", success({})).toString()).toBe('{"jsonrpc":"2.0","id":"\\ud800","result":{}}');
  });

  it.each([
    ["the first that is not exact", '{"jsonrpc":"2.0","id":9007199254740992,"method":"ping"}'],
    ["a long one", '{"jsonrpc":"2.0","id":12345678901234567890,"method":"ping"}'],
  ])("F11 an id that would lose precision is refused: %s", (_, text) => {
    expect(summary(text)).toBe(`${invalidRequest} -`);
  });

  it.each([
    ["a method twice", '{"jsonrpc":"2.0","id":1,"method":"tools/list","method":"tools/call"}'],
    ["an escaped method twice", '{"jsonrpc":"2.0","id":1,"method":"tools/list","\\u006dethod":"tools/call"}'],
    ["params twice", '{"jsonrpc":"2.0","id":1,"method":"x","params":{},"params":{"a":1}}'],
    ["an unknown member twice", '{"jsonrpc":"2.0","id":1,"method":"x","y":1,"y":1}'],
    ["Method beside method", '{"jsonrpc":"2.0","id":1,"method":"tools/list","Method":"tools/call"}'],
    ["Method alone", '{"jsonrpc":"2.0","id":1,"Method":"tools/list"}'],
    ["params with a long s", '{"jsonrpc":"2.0","id":1,"method":"x","params":{},"param\u017f":{"a":1}}'],
    ["a name twice in params", '{"jsonrpc":"2.0","id":1,"method":"x","params":{"name":"a","name":"b"}}'],
    ["an escaped name twice in params", '{"jsonrpc":"2.0","id":1,"method":"x","params":{"name":"a","n\\u0061me":"b"}}'],
    ["Name beside name in params", '{"jsonrpc":"2.0","id":1,"method":"x","params":{"name":"a","Name":"b"}}'],
    ["a Kelvin sign for k in params", '{"jsonrpc":"2.0","id":1,"method":"x","params":{"k":"a","\u212a":"b"}}'],
  ])("T36 a message that two parsers may read differently is refused: %s", (_, text) => {
    expect(summary(text)).toBe(`${invalidRequest} 1`);
  });

  it("T36 names of arguments may differ only in case", () => {
    const params = '{"name":"x","arguments":{"a":1,"A":2}}';
    expect(summary(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":${params}}`)).toBe(
      `request 1 tools/call ${params}`,
    );
  });

  it("T36 a result may have duplicate members", () => {
    const result = '{"a":1,"a":2,"A":3}';
    expect(summary(`{"jsonrpc":"2.0","id":1,"result":${result}}`)).toBe(`result 1 ${result}`);
    expect(summary(`{"jsonrpc":"2.0","id":1,"result":${result},"id":2}`)).toBe(`${invalidRequest} 2`);
  });

  it.each([64, 256])("T20 %i levels are accepted, one more is refused", (maxDepth) => {
    // The message and its params are the first two levels.
    const message = (depth: number) =>
      `{"jsonrpc":"2.0","id":1,"method":"x","params":{"a":${"[".repeat(depth - 2)}${"]".repeat(depth - 2)}}}`;
    expect(read(message(maxDepth), { maxDepth }).kind).toBe("request");
    expect(summary(message(maxDepth + 1), { maxDepth })).toBe(`${invalidRequest} -`);
    expect(summary(message(20_000), { maxDepth })).toBe(`${invalidRequest} -`);
  });

  it.each([
    ["no version", '{"id":1,"result":{}}', "result 1 {}"],
    ["another version", '{"jsonrpc":"1.0","id":1,"result":{}}', "result 1 {}"],
    ["a notification without a version", '{"method":"n"}', "notification n -"],
    ["a batch", "[]", `${invalidRequest} -`],
    ["a bad id", '{"id":{},"result":{}}', `${invalidRequest} -`],
    ["an id twice", '{"id":1,"id":2,"result":{}}', `${invalidRequest} 2`],
  ])("F06 lenient toward servers: %s", (_, text, expected) => {
    expect(summary(text, { lenient: true })).toBe(expected);
  });
});

describe("writing", () => {
  const id = fc.oneof(fc.maxSafeInteger(), fc.string({ unit: "binary" }));
  const method = fc.string({ unit: "binary" });
  const object = fc.dictionary(fc.constantFrom("a", "b", "c"), fc.jsonValue(), { noNullPrototype: true });

  it("CL-1 requests and notifications survive a round trip", () => {
    fc.assert(
      fc.property(id, method, fc.option(object, { nil: undefined }), (given, name, params) => {
        const payload = params === undefined ? undefined : Buffer.from(JSON.stringify(params));
        const carried = payload === undefined ? undefined : rawParams(JSON.parse(payload.toString()), payload);
        expect(read(writeRequest(given, name, payload))).toEqual({
          kind: "request",
          id: Object.is(given, -0) ? 0 : given,
          method: name,
          params: carried,
        });
        expect(read(writeNotification(name, payload))).toEqual({ kind: "notification", method: name, params: carried });
      }),
    );
  });

  it("CL-5 results and errors survive a round trip", () => {
    fc.assert(
      fc.property(id, fc.jsonValue(), (given, value) => {
        for (const reply of [success(value), failure({ code: -1, message: "x", data: value })]) {
          const message = read(writeReply(given, reply));
          expect(message.kind === "response" && message.reply.ok).toBe(reply.ok);
          expect(
            summary(writeReply(given, reply)).endsWith((reply.ok ? reply.result : reply.error).bytes.toString()),
          ).toBe(true);
        }
      }),
    );
  });

  it("CL-5 a payload keeps its bytes", () => {
    const bytes = Buffer.from('{"n":1.0,"big":12345678901234567890,"s":"\\u00e9"}');
    const reply = { ok: true, result: { bytes, value: {} } } as const;
    expect(writeReply("x", reply).toString()).toBe(`{"jsonrpc":"2.0","id":"x","result":${bytes.toString()}}`);
    expect(writeRequest(1, "m", bytes).toString()).toBe(
      `{"jsonrpc":"2.0","id":1,"method":"m","params":${bytes.toString()}}`,
    );
    expect(writeNotification("m", bytes).toString()).toBe(
      `{"jsonrpc":"2.0","method":"m","params":${bytes.toString()}}`,
    );
  });

  it("the reply to an unreadable message has the id null", () => {
    expect(writeReply(null, failure({ code: -32700, message: "no" })).toString()).toBe(
      '{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"no"}}',
    );
  });

  it("raw has the value and its bytes", () => {
    const value = { a: ["ü"] };
    expect(raw(value)).toEqual({ bytes: Buffer.from('{"a":["ü"]}'), value });
  });
});

describe("the outline of a large response", () => {
  const large = "x".repeat(50_000);
  const outlined = (json: string) => read(json, { lenient: true, outline: true });
  const answer = (result: string) => outlined(`{"jsonrpc":"2.0","id":7,"result":${result}}`);

  it.each([
    ["an object", { content: [{ type: "text", text: large }], isError: true, _meta: { a: 1.5 } }],
    ["a large object in it", { structuredContent: { rows: Array.from({ length: 5000 }, (_, n) => ({ n })) } }],
    ["an array", Array.from({ length: 20_000 }, (_, n) => n)],
    ["a text", large],
    ["names that mean something to JavaScript", JSON.parse(`{"__proto__":{"a":"${large}"},"constructor":1}`)],
  ])("equals the parsed response, and has its bytes: %s", (_what, result) => {
    const json = JSON.stringify(result);
    const message = answer(json);
    if (message.kind !== "response" || !message.reply.ok) throw new Error("no answer");
    const { bytes, value } = message.reply.result;
    expect(bytes.toString()).toBe(json);
    expect(JSON.stringify(value)).toBe(json);
    expect(value).toEqual(result);
  });

  it("throws only when an invalid part is read", () => {
    const message = answer(`{"isError":false,"content":["\\x${large}"]}`);
    if (message.kind !== "response" || !message.reply.ok) throw new Error("no answer");
    const { value } = message.reply.result as { value: Record<string, unknown> };
    expect(value["isError"]).toBe(false);
    expect(Object.hasOwn(value, "content")).toBe(true);
    expect(() => value["content"]).toThrow("not valid JSON");
  });

  it.each([`{"content":["${large}"`, `{"content":"${large}"]}`, `{"isError":nope,"content":"${large}"}`])(
    "is refused if the response is incomplete: %#",
    (result) => {
      expect(answer(result)).toMatchObject({ kind: "malformed" });
    },
  );

  it("is not used for requests, which are checked as a whole", () => {
    const message = outlined(`{"jsonrpc":"2.0","id":7,"method":"x","params":{"a":["\\x${large}"]}}`);
    expect(message).toMatchObject({ kind: "malformed" });
  });
});
