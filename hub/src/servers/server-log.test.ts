import { describe, expect, it } from "vitest";
import { createRedactor } from "../../../test/support/redactor.ts";
import { createRedact } from "./server-redaction.ts";
import { ServerLog } from "./server-log.ts";

describe("a server's log", () => {
  const log = (secrets: string[] = []) => {
    const seen: string[] = [];
    const redactor = createRedactor();
    redactor.setSecrets("it", secrets);
    const made = new ServerLog({ redact: createRedact(redactor), onLine: ({ text }) => seen.push(text) });
    const write = made.start();
    return { log: made, seen, write, push: (text: string) => write(Buffer.from(text)) };
  };

  it("CL-1 emits complete lines, for any chunks", () => {
    const { log: made, seen, write, push } = log();
    for (const byte of Buffer.from("first\nsäcond\r\nthi")) write(Buffer.of(byte));
    expect(seen).toEqual(["first", "säcond"]);
    push("rd\n");
    expect(made.tail(2).map(({ text }) => text)).toEqual(["säcond", "third"]);
  });

  it("SE-1 T12 redacts secrets, also byte by byte and inside another", () => {
    const { seen, write } = log(["sesame", "sesame-longer"]);
    for (const byte of Buffer.from("a sesame-longer b sesame c\n")) write(Buffer.of(byte));
    expect(seen).toEqual(["a *** b *** c"]);
  });

  it("SE-1 T12 redacts secrets with colours, in encodings, and by their form", () => {
    const { seen, push } = log(["sesame-open-42"]);
    push("a \u001b[31mses\u001b[1mame-open\u0007-42\u001b[0m b\n");
    push(`${Buffer.from("x sesame-open-42").toString("base64")} ${Buffer.from("sesame-open-42").toString("hex")}\n`);
    push("token=of-its-own postgres://me:pw@db Authorization: Bearer 0123456789\n");
    expect(seen).toEqual(["a *** b", "*** ***", "token=*** postgres://***@db Authorization: Bearer ***"]);
  });

  it("SE-1 T12 reveals no part of a secret where a line is truncated, for any position and any chunks", () => {
    const secret = "sesame-open-".repeat(300);
    for (const before of [0, 4000, 4090, 4096, 5000, 12_700, 12_800, 16_300, 16_380]) {
      for (const size of [1 << 20, 1000]) {
        const { seen, write } = log([secret, "sesame-open-shut"]);
        const line = Buffer.from(`${secret}${"x".repeat(before)}${secret}${"y".repeat(20_000)}\n`);
        for (let at = 0; at < line.length; at += size) write(line.subarray(at, at + size));
        expect(seen).toHaveLength(1);
        expect(seen.join()).not.toContain("sesa");
      }
    }
  });

  it("SE-1 T12 keeps the lines of two processes apart, and redacts both", () => {
    const { log: made, seen, push } = log(["sesame-open"]);
    const other = made.start();
    push("one sesa");
    other(Buffer.from("two sesame-"));
    push("me-open\n");
    other(Buffer.from("open\n"));
    expect(seen).toEqual(["one ***", "two ***"]);
  });

  it("T41 a line cannot move the cursor or forge another", () => {
    const { seen, push } = log();
    push("\u001b[2J\u001b[31mred\u001b[0m\b\u2028x\ty\n");
    expect(seen).toEqual(["redx\ty"]);
  });

  it("T25 keeps a bounded number of bounded lines", () => {
    const { log: made, push } = log();
    for (let line = 0; line < 10_000; line++) push(`line ${line}\n`);
    push(`${"x".repeat(1 << 20)}\n`);
    expect(made.tail(1_000_000).length).toBeLessThanOrEqual(4000);
    expect(made.tail(1)[0]?.text.length).toBe(4096);
    expect(made.tail(2)[0]?.text).toBe("line 9999");
    expect(made.tail(0)).toEqual([]);
  });

  it("CL-1 keeps MCP messages with level and logger beside stderr, in the order of time", () => {
    const { log: made, push } = log();
    push("starts\n");
    made.message({ level: "warning", logger: "db", data: "slow" });
    made.message({ level: "debug", data: { rows: 3 } });
    expect(made.tail(9)).toMatchObject([
      { source: "stderr", text: "starts" },
      { source: "mcp", level: "warning", logger: "db", text: "slow" },
      { source: "mcp", level: "debug", text: '{"rows":3}' },
    ]);
    expect(made.tail(1, { source: "stderr" }).map(({ text }) => text)).toEqual(["starts"]);
    expect(made.tail(9, { level: "notice" }).map(({ text }) => text)).toEqual(["starts", "slow"]);
    expect(made.tail(9, { source: "mcp", level: "error" })).toEqual([]);
  });

  it("CL-1 a message has as many lines as its text, and an unknown level is none", () => {
    const { log: made, seen } = log();
    made.message({ level: "loud", logger: 7, data: "one\r\n\ntwo" });
    made.message({});
    expect(seen).toEqual(["one", "two"]);
    expect(made.tail(1)[0]).toEqual({ at: expect.any(Number), source: "mcp", text: "two" });
    expect(made.tail(9, { level: "emergency" })).toHaveLength(2);
  });

  it("SE-1 T12 T41 redacts secrets in messages and loggers, and removes controls", () => {
    const { log: made, seen } = log(["sesame-open-42"]);
    made.message({ level: "info", logger: "a sesame-open-42", data: { key: "sesame-open-42", password: "pw" } });
    made.message({ level: "info", data: "\u001b[31msesame-\u001b[1mopen-42\u0007 \u2028x" });
    expect(seen).toEqual(['{"key":"***","password":"***"}', "*** x"]);
    expect(made.tail(2)[0]?.logger).toBe("a ***");
  });

  it("T25 many messages evict no line of stderr, and are bounded themselves", () => {
    const { log: made, push } = log();
    push("starts\n");
    for (let n = 0; n < 10_000; n++) made.message({ level: "info", data: `message ${n}` });
    made.message({ level: "info", data: "x\n".repeat(1 << 16) });
    expect(made.tail(1_000_000, { source: "mcp" }).length).toBeLessThanOrEqual(4000);
    expect(made.tail(1_000_000, { source: "mcp" }).filter(({ text }) => text === "x")).toHaveLength(100);
    expect(made.tail(1, { source: "stderr" })[0]?.text).toBe("starts");
  });
});
