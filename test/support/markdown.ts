// The examples of a document: its fenced blocks, each with the comment above it that says how to run it.

import { readFileSync } from "node:fs";

export interface Block {
  /** The position for the test title: `docs/api.md:7`. */
  readonly at: string;
  readonly language: string;
  readonly text: string;
  /** The comment right above it, such as `not run: needs a phone`. */
  readonly note: string | undefined;
}

const FENCE = /^```(\S*)$/;
const COMMENT = /^<!-- (.*) -->$/;

export function readBlocks(root: string, path: string): Block[] {
  const lines = readFileSync(`${root}/${path}`, "utf8").split("\n");
  const blocks: Block[] = [];
  for (let index = 0; index < lines.length; index++) {
    const language = FENCE.exec(lines[index] ?? "")?.[1];
    if (language === undefined) {
      if (/^\s*(```|~~~)/.test(lines[index] ?? "")) throw new Error(`${path}:${index + 1}: a fence of no known form`);
      continue;
    }
    const end = lines.indexOf("```", index + 1);
    if (end < 0) throw new Error(`${path}:${index + 1}: a block without an end`);
    const above = lines.slice(0, index).findLast((line) => line !== "") ?? "";
    blocks.push({
      at: `${path}:${index + 1}`,
      language,
      text: lines
        .slice(index + 1, end)
        .map((line) => `${line}\n`)
        .join(""),
      note: COMMENT.exec(above)?.[1],
    });
    index = end;
  }
  return blocks;
}

export interface Step {
  readonly command: string;
  /** The output that the document shows. */
  readonly output: string;
}

/** Parses a block of `$ command` lines and their output; a backslash continues a command. */
export function parseConsole(text: string): Step[] {
  const steps: { command: string; output: string }[] = [];
  let open = false;
  for (const line of text.trimEnd().split("\n")) {
    const step = steps.at(-1);
    if (open && step !== undefined) step.command += `\n${line}`;
    else if (line.startsWith("$ ")) steps.push({ command: line.slice(2), output: "" });
    else if (step === undefined) throw new Error(`A console block begins with "$ ", not with ${JSON.stringify(line)}`);
    else step.output += `${line}\n`;
    open = (open || line.startsWith("$ ")) && line.endsWith("\\");
  }
  return steps;
}
