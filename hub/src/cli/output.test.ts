import { PassThrough } from "node:stream";
import { describe, expect, it } from "vitest";
import { HubError, toHubError } from "../errors.ts";
import type { Io } from "./io.ts";
import { count, firstLine, printError, printJson, seconds, table } from "./output.ts";

/** What a command writes, where. */
function captured(): { io: Io; stdout: () => string; stderr: () => string } {
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
  const nothing = () => undefined;
  const exit = () => {
    throw new Error("exit");
  };
  return {
    io: { env: {}, platform: "linux", home: "/", stdin, stdout, stderr, onSignal: nothing, exit },
    stdout: () => String(stdout.read() ?? ""),
    stderr: () => String(stderr.read() ?? ""),
  };
}

describe("errors", () => {
  const error = new HubError("PackageNotFound", "Package not found", {
    field: "command",
    detail: "first line\nsecond line",
    hint: "Check the name",
  });

  it("say what, where, why and what to do, on stderr", () => {
    const { io, stdout, stderr } = captured();
    printError(error, io, false);
    expect(stderr()).toBe(
      [
        "error: Package not found",
        "  field: command",
        "  cause: first line",
        "         second line",
        "  fix:   Check the name",
        "",
      ].join("\n"),
    );
    expect(stdout()).toBe("");
  });

  it("are one line where there is no more to say", () => {
    const { io, stderr } = captured();
    printError(new HubError("Timeout", "Too late"), io, false);
    expect(stderr()).toBe("error: Too late\n");
  });

  it("are one line of JSON for programs, with the members of the contract alone", () => {
    const { io, stderr } = captured();
    printError(new HubError("IoError", "No", { detail: "a\nb", cause: new Error("inner secret") }), io, true);
    const text = stderr();
    expect(text.split("\n")).toHaveLength(2);
    expect(JSON.parse(text)).toEqual({ code: "NETWORK_ERROR", kind: "IoError", message: "No", detail: "a\nb" });
  });

  it("show where it came from only if nobody foresaw it", () => {
    const { io, stderr } = captured();
    printError(toHubError(new TypeError("oops")), io, false);
    expect(stderr()).toMatch(/^error: Something unexpected.*\n {2}cause: TypeError: oops\n/);
    printError(new HubError("IoError", "No", { cause: new TypeError("inner") }), io, false);
    expect(stderr()).toBe("error: No\n");
  });
});

describe("tables", () => {
  it("align every column but the last, without blanks at the end", () => {
    expect(
      table([
        ["NAME", "KIND", ""],
        ["a", "binary", "a long remark"],
        ["longer", "npx", ""],
      ]),
    ).toBe(["NAME    KIND", "a       binary  a long remark", "longer  npx", ""].join("\n"));
  });

  it("of no rows are nothing", () => {
    expect(table([])).toBe("");
  });
});

it("JSON is indented and ends with a line break", () => {
  const { io, stdout } = captured();
  printJson(io, { a: [1] });
  expect(stdout()).toBe('{\n  "a": [\n    1\n  ]\n}\n');
});

it.each([
  [0, "0.0s"],
  [840, "0.8s"],
  [61_000, "61.0s"],
])("%d ms is %s", (ms, text) => expect(seconds(ms)).toBe(text));

it.each([
  [0, "0 tools"],
  [1, "1 tool"],
  [2, "2 tools"],
])("%d is %s", (n, text) => expect(count(n, "tool")).toBe(text));

it("the first line is all of a text that has one", () => {
  expect([firstLine("a\nb"), firstLine("a"), firstLine("")]).toEqual(["a", "a", ""]);
});
