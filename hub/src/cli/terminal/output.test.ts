import { PassThrough } from "node:stream";
import { describe, expect, it } from "vitest";
import { HubError, toHubError } from "../../errors.ts";
import type { GlobalOptions, Io } from "../io.ts";
import { Output, printError, printJson } from "./output.ts";

const ESC = "\u001b";

/** The output of a command on each stream. */
function captured({ env = {}, tty = false, columns = 40 } = {}) {
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
  const nothing = () => undefined;
  const exit = () => {
    throw new Error("exit");
  };
  const terminal = { isTTY: tty, columns };
  const io: Io = {
    env,
    platform: "linux",
    home: "/",
    stdin,
    stdout: Object.assign(stdout, terminal),
    stderr: Object.assign(stderr, terminal),
    onSignal: nothing,
    onFault: nothing,
    exit,
  };
  return {
    io,
    out: (options: GlobalOptions = {}) => new Output(io, options),
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

  it("have message, field, cause and fix, on stderr", () => {
    const { io, stdout, stderr } = captured();
    printError(error, io, {});
    expect(stderr()).toBe(
      [
        "error: Package not found",
        "  field: command",
        "  cause: first line",
        "         second line",
        "  note:  Check the name",
        "",
      ].join("\n"),
    );
    expect(stdout()).toBe("");
  });

  it.each([
    ["ToolNotFound", "plugboard tools"],
    ["GroupNotFound", "plugboard group ls"],
    ["ServerNotFound", "plugboard ls"],
    ["IoError", "plugboard doctor"],
  ] as const)("of the kind %s have a default fix", (kind, fix) => {
    const { io, stderr } = captured();
    printError(new HubError(kind, "No"), io, {});
    expect(stderr()).toBe(`error: No\n  fix:   ${fix}\n`);
  });

  it("are one line of JSON with --json, with exactly the documented members", () => {
    const { io, stderr } = captured();
    const thrown = new HubError("IoError", "No", { detail: "a\nb", cause: new Error("inner secret") });
    printError(thrown, io, { json: true });
    const text = stderr();
    expect(text.split("\n")).toHaveLength(2);
    expect(JSON.parse(text)).toEqual({ code: "INTERNAL", kind: "IoError", message: "No", detail: "a\nb" });
  });

  it("have a stack trace only if they are unexpected", () => {
    const { io, stderr } = captured();
    printError(toHubError(new TypeError("oops")), io, {});
    expect(stderr()).toMatch(/^error: Something unexpected.*\n {2}cause: TypeError: oops\n/);
    printError(new HubError("IoError", "No", { cause: new TypeError("inner") }), io, {});
    expect(stderr()).not.toContain("inner");
  });

  it("of a server cannot move the cursor or fake a line", () => {
    const { io, stderr } = captured({ tty: true, env: { NO_COLOR: "1" } });
    printError(new HubError("ToolFailed", "No", { detail: `${ESC}[2J${ESC}[Hroot#\r\u0007`, hint: "x" }), io, {});
    expect(stderr()).toBe("error: No\n  cause: root#\n  note:  x\n");
  });
});

describe("colours", () => {
  it.each([
    ["on a terminal", { tty: true }, {}, true],
    ["not in a pipe", { tty: false }, {}, false],
    ["not with --no-color", { tty: true, env: { FORCE_COLOR: "1" } }, { color: false }, false],
    ["not with NO_COLOR", { tty: true, env: { NO_COLOR: "1" } }, {}, false],
    ["with an empty NO_COLOR", { tty: true, env: { NO_COLOR: "" } }, {}, true],
    ["not on a dumb terminal", { tty: true, env: { TERM: "dumb" } }, {}, false],
    ["in a pipe with FORCE_COLOR", { tty: false, env: { FORCE_COLOR: "1" } }, {}, true],
    ["not with FORCE_COLOR=0", { tty: true, env: { FORCE_COLOR: "0" } }, {}, false],
    ["with FORCE_COLOR over NO_COLOR", { tty: false, env: { FORCE_COLOR: "1", NO_COLOR: "1" } }, {}, true],
  ])("%s", (_, environment, options, colored) => {
    const { out } = captured(environment);
    expect(out(options).color.good("yes")).toBe(colored ? `${ESC}[32myes${ESC}[39m` : "yes");
  });
});

describe("output", () => {
  it("a table is truncated on a terminal only", () => {
    const rows = [["name", "x".repeat(60)]];
    const [terminal, pipe] = [captured({ tty: true }), captured()];
    terminal.out().table(rows);
    pipe.out().table(rows);
    expect(terminal.stdout()).toBe(`name  ${"x".repeat(33)}…\n`);
    expect(pipe.stdout()).toBe(`name  ${"x".repeat(60)}\n`);
  });

  it("a terminal of unknown width gets complete lines", () => {
    const { out, stdout } = captured({ tty: true, columns: 0 });
    out().table([["name", "x".repeat(200)]]);
    expect(stdout()).toBe(`name  ${"x".repeat(200)}\n`);
  });

  it("text of servers is unchanged in a pipe, and free of control characters on a terminal", () => {
    const text = `a\t${ESC}[31mred${ESC}[0m\r\nb\u0000`;
    const [terminal, pipe] = [captured({ tty: true }), captured()];
    terminal.out().printForeign(text);
    pipe.out().printForeign(text);
    expect(terminal.stdout()).toBe("a\tred\nb\n");
    expect(pipe.stdout()).toBe(`${text}\n`);
  });

  it("a change prints one line, or JSON, or nothing with --quiet", () => {
    const { out, stdout, stderr } = captured();
    out().changed("Added it", { name: "it" });
    expect(stdout()).toBe("Added it\n");
    out({ json: true }).changed("Added it", { name: "it" });
    expect(JSON.parse(stdout())).toEqual({ name: "it" });
    out({ quiet: true }).changed("Added it", { name: "it" });
    out({ quiet: true }).note("by the way");
    expect(stdout() + stderr()).toBe("");
  });

  it("notes and warnings go to stderr", () => {
    const { out, stdout, stderr } = captured();
    out().note("by the way");
    out().warn("careful");
    expect({ stdout: stdout(), stderr: stderr() }).toEqual({ stdout: "", stderr: "by the way\nwarning: careful\n" });
  });
});

it("JSON is indented and ends with a line break", () => {
  const { io, stdout } = captured();
  printJson(io, { a: [1] });
  expect(stdout()).toBe('{\n  "a": [\n    1\n  ]\n}\n');
});
