// `plugboard prompt`: one prompt of a server, filled in.

import { HubError } from "../errors.ts";
import { isObject } from "../wire/json.ts";
import { withAccess, type Access } from "./access.ts";
import { parseArguments } from "./arguments.ts";
import { textOf } from "./content.ts";
import type { GlobalOptions } from "./io.ts";
import type { Register } from "./program.ts";

interface PromptOptions extends GlobalOptions {
  readonly group: string;
}

export const promptCommand: Register = (program, { io, done }) => {
  program
    .command("prompt")
    .description("get a prompt")
    .argument("<prompt>", "server.prompt, server:prompt, or a prompt's name in the group")
    .argument("[arguments...]", "key=value … or one JSON object")
    .option("--group <name>", "the group that has it", "default")
    .action(async (name: string, words: string[], options: PromptOptions) => {
      await withAccess(io, options, (access) => prompt(access, name, { words, group: options.group }));
      done(0);
    });
};

async function prompt(
  access: Access,
  target: string,
  { words, group }: { words: string[]; group: string },
): Promise<void> {
  const { api, out } = access;
  const args = textsOf(words);
  await api.getGroup(group);
  const split = target.search(/[.:]/);
  const named = split > 0 ? target.slice(0, split) : undefined;
  const server = (await api.listServers()).find(({ config }) => config.name === named);
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

/** The arguments of a prompt are texts, whatever they look like. */
function textsOf(words: readonly string[]): Record<string, string> {
  if (words.length === 1 && words[0]?.trimStart().startsWith("{") === true) {
    const entries = Object.entries(parseArguments(words, undefined).value);
    const wrong = entries.find(([, value]) => typeof value !== "string")?.[0];
    if (wrong !== undefined)
      throw new HubError("InvalidConfig", "The arguments of a prompt are texts", { field: wrong });
    return Object.fromEntries(entries.map(([name, value]) => [name, String(value)]));
  }
  const properties = Object.fromEntries(words.map((word) => [word.split("=", 1)[0] ?? "", { type: "string" }]));
  return Object.fromEntries(
    Object.entries(parseArguments(words, { properties }).value).map(([name, value]) => [name, String(value)]),
  );
}
