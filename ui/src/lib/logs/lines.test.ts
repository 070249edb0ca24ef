import { describe, expect, it } from "vitest";
import { indexAt, isShown, lineKey, lineText, shownLine } from "./lines.ts";

const AT = "2026-11-18T14:02:11.000Z";
const line = (more: Partial<Parameters<typeof shownLine>[0]>) =>
  shownLine({ server: "a", timestamp: AT, text: "x", source: "stderr", level: null, logger: null, ...more });

describe("a line of a server's log", () => {
  it("of stderr has the level that its text gives", () => {
    expect(line({ text: "WARN slow" })).toMatchObject({ level: "warn", source: "stderr" });
    expect(line({}).level).toBeUndefined();
  });

  it.each([
    ["debug", "debug"],
    ["notice", "info"],
    ["warning", "warn"],
    ["critical", "error"],
    ["emergency", "error"],
  ] as const)("of MCP with level %s counts as %s, whatever its text says", (level, expected) => {
    expect(line({ source: "mcp", level, text: "error" })).toMatchObject({ level: expected, origin: level });
  });

  it("is copied with its time, level and logger, without colours", () => {
    const message = line({ source: "mcp", level: "info", logger: "db", text: "\u001B[31mred\u001B[0m" });
    expect(lineText(message)).toBe(`${AT} [info db] red`);
    expect(lineText(line({}))).toBe(`${AT} x`);
  });

  it("is recognized again, and filtered by its source", () => {
    expect(lineKey(line({}))).toBe(lineKey(line({})));
    expect(lineKey(line({}))).not.toBe(lineKey(line({ source: "mcp" })));
    expect([undefined, "stderr", "mcp"].map((source) => isShown(line({}), source as "mcp"))).toEqual([
      true,
      true,
      false,
    ]);
  });
});

it("a time is found among the lines", () => {
  const lines = ["01", "03", "05"].map((second) => ({ timestamp: `2026-11-18T14:02:${second}.000Z`, text: second }));
  const at = (second: string) => indexAt(lines, `2026-11-18T14:02:${second}.000Z`);
  expect([at("00"), at("03"), at("04"), at("06")]).toEqual([0, 1, 2, 3]);
});
