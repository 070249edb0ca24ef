// The help of every command is in one style, and every topic leads to a page that exists.

import { readFileSync } from "node:fs";
import { PassThrough } from "node:stream";
import type { Command } from "commander";
import { describe, expect, it } from "vitest";
import { helpOn, listOfTopics, TOPICS } from "./help-topics.ts";
import { createProgram, run } from "./program.ts";

const nothing = () => undefined;
const stdout = () => new PassThrough();

function io(out = stdout()) {
  const streams = { stdin: stdout(), stdout: out, stderr: stdout() };
  const listeners = { onSignal: nothing, onFault: nothing, exit: nothing };
  return { env: {}, platform: "linux" as const, home: "/", ...streams, ...listeners };
}

const program = createProgram({ io: io(), args: [], done: nothing });

function commandsOf(command: Command, path: string): (readonly [string, Command])[] {
  return command.commands
    .filter((each) => !each.name().startsWith("__") && each.name() !== "help")
    .flatMap((each) => [[`${path} ${each.name()}`, each] as const, ...commandsOf(each, `${path} ${each.name()}`)]);
}

const commands = commandsOf(program, "plugboard");
/** A short text that begins with a small letter, or with a name that is written large, and has no full stop. */
const PHRASE = /^(?:[a-z(\d'-]|[A-Z]{2,}|PEM|URI).*[^.\s]$/s;

describe("help", () => {
  it.each(commands)("%s says in one phrase what it and each of its arguments and options does", (_path, command) => {
    expect(command.description()).toMatch(/^[a-z].{8,110}[^.\s]$/);
    for (const { name, description } of command.registeredArguments.map((argument) => ({
      name: argument.name(),
      description: argument.description,
    })))
      expect([name, description]).toEqual([name, expect.stringMatching(PHRASE)]);
    for (const { long, description } of command.options) {
      expect([long, description]).toEqual([long, expect.stringMatching(PHRASE)]);
    }
  });

  it.each(commands.filter(([, command]) => command.commands.length > 0))(
    "%s names its commands in its description or lists them",
    (_path, command) => {
      const listed = command.helpInformation();
      for (const each of command.commands) expect(listed).toContain(each.name());
    },
  );
});

describe("topics", () => {
  it.each(Object.entries(TOPICS))("%s is short, and names a page of the docs that exists", (name, { page }) => {
    const text = helpOn(name, false);
    if (name !== "errors" && name !== "exit-codes") expect(text.split("\n").length).toBeLessThan(25);
    for (const line of text.split("\n")) if (name !== "exit-codes") expect(line.length).toBeLessThanOrEqual(125);
    for (const [, file = "", anchor] of `docs/${page}`.matchAll(/docs\/([\w-]+\.md)(?:#([\w-]+))?/g)) {
      const doc = readFileSync(new URL(`../../../docs/${file}`, import.meta.url), "utf8");
      const anchors = [...doc.matchAll(/^#+ (.*)$/gm)].map(([, title = ""]) =>
        title
          .toLowerCase()
          .replaceAll(/[^\w -]/g, "")
          .replaceAll(" ", "-"),
      );
      if (anchor !== undefined) expect(anchors).toContain(anchor);
    }
    expect(listOfTopics()).toContain(`  ${name} `);
  });

  it("every command that a topic names exists", () => {
    const known = new Set(program.commands.flatMap((each) => [each.name(), ...each.aliases()]));
    for (const name of Object.keys(TOPICS)) {
      const named = [...helpOn(name, false).matchAll(/^ +plugboard ([a-z]+)/gm)].map(([, command = ""]) => command);
      expect(named.filter((command) => !known.has(command))).toEqual([]);
    }
  });

  it("plugboard help TOPIC prints it, with --json as JSON; of a command it shows the command's help", async () => {
    const print = async (...args: string[]) => {
      const out = stdout();
      expect(await run(["help", ...args], io(out))).toBe(0);
      return String(out.read());
    };
    expect(await print("groups")).toBe(helpOn("groups", false));
    expect(JSON.parse(await print("groups", "--json"))).toMatchObject({ topic: "groups", page: "docs/groups.md" });
    expect(await print("up")).toContain("Usage: plugboard up");
  });
});
