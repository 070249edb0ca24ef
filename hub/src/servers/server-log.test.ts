import { describe, expect, it } from "vitest";
import { ServerLog } from "./server-log.ts";

describe("a server's log", () => {
  const log = (secrets: string[] = []) => {
    const seen: string[] = [];
    const made = new ServerLog(({ text }) => seen.push(text));
    made.start(secrets);
    return { log: made, seen, push: (text: string) => made.push(Buffer.from(text)) };
  };

  it("CL-1 gives whole lines as they come, whatever the chunks", () => {
    const { log: made, seen, push } = log();
    for (const byte of Buffer.from("first\nsäcond\r\nthi")) made.push(Buffer.of(byte));
    expect(seen).toEqual(["first", "säcond"]);
    push("rd\n");
    expect(made.tail(2).map(({ text }) => text)).toEqual(["säcond", "third"]);
  });

  it("SE-1 T12 shows no secret, not even one that came byte by byte or holds another", () => {
    const { log: made, seen } = log(["key", "key-longer"]);
    for (const byte of Buffer.from("a key-longer b key c\n")) made.push(Buffer.of(byte));
    expect(seen).toEqual(["a *** b *** c"]);
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
});
