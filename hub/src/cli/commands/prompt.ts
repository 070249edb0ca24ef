// `plugboard prompt`: gets one prompt with its arguments.

import { HubError } from "../../errors.ts";
import { isObject } from "../../lib/json/json.ts";
import { withAccess, type Access } from "../hub-access/hub-access.ts";
import { parseArguments } from "../input/arguments.ts";
import { textOf } from "../terminal/content.ts";
import type { GlobalOptions } from "../io.ts";
import type { Register } from "../command.ts";

interface PromptOptions extends GlobalOptions {
  readonly group: string;
}

export const promptCommand: Register = (program, { io }) => {
  program
    .command("prompt")
    .description("get a prompt")
    .argument("<prompt>", "server.prompt, server:prompt, or a prompt's name in the group")
    .argument("[arguments...]", "key=value … or one JSON object")
    .option("--group <name>", "the group of the prompt", "default")
    .action(async (name: string, words: string[], options: PromptOptions) => {
      await withAccess(io, options, (access) => prompt(access, name, { words, group: options.group }));
    });
};

async function prompt(
  access: Access,
  target: string,
  { words, group }: { words: string[]; group: string },
): Promise<void> {
  const { api, out } = access;
  const args = textsOf(words);
  await api.groups.get(group);
  const split = target.search(/[.:]/);
  const named = split > 0 ? target.slice(0, split) : undefined;
  const server = (await api.servers.list()).find(({ config }) => config.name === named);
  await access.ready(server?.config.name);
  const name = server === undefined ? target : `${server.config.name}:${target.slice(split + 1)}`;
  const { bytes, value } = await access.getPrompt(group, name, args);
  if (out.json) return out.dataBytes(bytes);
  const messages: unknown[] = isObject(value) && Array.isArray(value["messages"]) ? value["messages"] : [];
  for (const message of messages) {
    const { role, content } = isObject(message) ? message : {};
    out.printForeign(`${String(role)}:\n${textOf(content)}\n`);
  }
}

/** Prompt arguments are always strings. */
function textsOf(words: readonly string[]): Record<string, string> {
  if (words.length === 1 && words[0]?.trimStart().startsWith("{") === true) {
    const entries = Object.entries(parseArguments(words, undefined).value);
    const wrong = entries.find(([, value]) => typeof value !== "string")?.[0];
    if (wrong !== undefined)
      throw new HubError("InvalidArgument", "Prompt arguments must be strings", { field: wrong });
    return Object.fromEntries(entries.map(([name, value]) => [name, String(value)]));
  }
  const properties = Object.fromEntries(words.map((word) => [word.split("=", 1)[0] ?? "", { type: "string" }]));
  return Object.fromEntries(
    Object.entries(parseArguments(words, { properties }).value).map(([name, value]) => [name, String(value)]),
  );
}
