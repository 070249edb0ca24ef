import { describe, expect, it } from "vitest";
import { parseTemplate } from "./template.ts";

const places = { home: "/home/me", workspace: "/srv/app", separator: "/" };

describe("CF-11 references in the texts of a client", () => {
  it.each([
    ["shell", "a ${V} b", [{ text: "a " }, { variable: "V" }, { text: " b" }]],
    ["shell", "${V:-d}", [{ variable: "V", fallback: "d" }]],
    ["shell", "$V ${env:V} ${", [{ text: "$V ${env:V} ${" }]],
    ["gemini", "$V/${W}", [{ variable: "V" }, { text: "/" }, { variable: "W" }]],
    ["gemini", "$1 $", [{ text: "$1 $" }]],
    ["editor", "Bearer ${env:V}", [{ text: "Bearer " }, { variable: "V" }]],
    ["editor", "${V}", [{ text: "${V}" }]],
    ["editor", "${userHome}/x", [{ text: "/home/me/x" }]],
    ["editor", "${workspaceFolder}${/}${workspaceFolderBasename}", [{ text: "/srv/app/app" }]],
    ["editor", "k=${input:a-b}", [{ text: "k=" }, { secret: "a-b" }]],
    ["literal", "${V} $V ${env:V}", [{ text: "${V} $V ${env:V}" }]],
    ["continue", "${{ secrets.KEY }}", [{ secret: "KEY" }]],
    ["opencode", "{env:V}-{x}", [{ variable: "V" }, { text: "-{x}" }]],
  ] as const)("%s: %s", (dialect, text, parts) => {
    expect(parseTemplate(text, dialect, places)).toEqual({ parts, unknown: [] });
  });

  it.each([
    ["editor", "${command:pick}"],
    ["opencode", "{file:~/key}"],
  ] as const)("what only the client can know is named: %s", (dialect, text) => {
    expect(parseTemplate(text, dialect, places)).toEqual({ parts: [{ text }], unknown: [text] });
  });

  it("the file of a user has no project folder", () => {
    const { unknown } = parseTemplate("${workspaceFolder}", "editor", { ...places, workspace: undefined });
    expect(unknown).toEqual(["${workspaceFolder}"]);
  });
});
