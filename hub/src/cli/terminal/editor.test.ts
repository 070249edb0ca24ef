// The position argument of each editor.

import { PassThrough } from "node:stream";
import { describe, expect, it } from "vitest";
import { findEditor, positionArguments } from "./editor.ts";
import type { Io } from "../io.ts";

const PLACE = { path: "/c/mcp server.json", line: 3, column: 7 };

it.each([
  ["vim", ["+call cursor(3, 7)", "/c/mcp server.json"]],
  ["/usr/bin/nvim -u NONE", ["+call cursor(3, 7)", "/c/mcp server.json"]],
  ["vi", ["+3", "/c/mcp server.json"]],
  ["nano", ["+3,7", "/c/mcp server.json"]],
  ["emacsclient -t", ["+3:7", "/c/mcp server.json"]],
  ["code --wait", ["--wait", "--goto", "/c/mcp server.json:3:7"]],
  ["hx", ["/c/mcp server.json:3:7"]],
  ["my-editor", ["/c/mcp server.json"]],
  ["toString", ["/c/mcp server.json"]],
])("%s", (editor, words) => expect(positionArguments(editor, PLACE)).toEqual(words));

describe("the editor of the user", () => {
  const terminal = () => Object.assign(new PassThrough(), { isTTY: true });
  const io = (changes: Partial<Io> = {}): Io => ({
    env: { EDITOR: "vi" },
    platform: "linux",
    home: "/",
    stdin: terminal(),
    stdout: terminal(),
    stderr: terminal(),
    onSignal: () => undefined,
    onFault: () => undefined,
    exit: () => undefined,
    ...changes,
  });

  it("is found in VISUAL and EDITOR, and not used without a terminal or with --no-input and --json", () => {
    expect(findEditor(io(), {})).toBe("vi");
    expect(findEditor(io({ env: { EDITOR: "vi", VISUAL: "code -w" } }), {})).toBe("code -w");
    expect(findEditor(io({ env: { EDITOR: "" } }), {})).toBeUndefined();
    expect(findEditor(io({ stdin: new PassThrough() }), {})).toBeUndefined();
    expect(findEditor(io({ stdout: new PassThrough() }), {})).toBeUndefined();
    expect(findEditor(io(), { input: false })).toBeUndefined();
    expect(findEditor(io(), { json: true })).toBeUndefined();
  });
});
