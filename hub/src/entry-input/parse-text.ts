// Reads any text that a person may paste to add servers: a command line, an address, a package, the config of a client, a command
// of a client, or an install link.

import { editorFor } from "../client-configs/formats/format.ts";
import type { Format } from "../client-configs/client.ts";
import { findProgram } from "../lib/files/find-program.ts";
import { HubError } from "../errors.ts";
import { parseClientCommand } from "./client-command.ts";
import { clientOf, type DescribedServer, type DescribedServers } from "./described-server.ts";
import { parseInstallLink } from "./install-link.ts";
import { serversIn } from "./json-entries.ts";
import { isLauncher } from "./launch-words.ts";
import { splitWords } from "../lib/shell-words.ts";
import { fromCommand, isTarget, parseTarget, type Target } from "./target.ts";

export interface ParseContext {
  /** The PATH of the hub. */
  readonly path: string | undefined;
  readonly home: string;
}

const URL_LIKE = /^(?:https?|wss?):\/\//i;
const TOML = /^[ \t]*\[+ *(?:mcp_servers|"mcp_servers")\b/m;
const YAML = /^(?:mcpServers|extensions):/m;
/** Members of JSON without the braces around them. */
const MEMBERS = /^"[^"\n]*"\s*:/;
const ASSIGNMENT = /^([A-Za-z_][A-Za-z0-9_]*)=(.*)$/s;

export async function parseServers(given: string, context: ParseContext): Promise<DescribedServers> {
  const text = withoutFence(given);
  if (text === "") throw new HubError("InvalidArgument", "The text is empty", { field: "text" });
  if (text.startsWith("{")) return { format: "json", servers: await parseData(text, "jsonc") };
  if (MEMBERS.test(text)) return { format: "json", servers: await parseData(`{${text}}`, "jsonc") };
  if (TOML.test(text)) return { format: "toml", servers: await parseData(text, "toml") };
  if (YAML.test(text)) return { format: "yaml", servers: await parseData(text, "yaml") };
  const linked = parseInstallLink(text);
  if (linked !== undefined) return { format: "link", servers: linked };
  return parseCommandLine(text, context);
}

async function parseData(text: string, format: Format): Promise<DescribedServer[]> {
  const editor = await editorFor(format);
  return serversIn(editor.parse(text, "text"));
}

async function parseCommandLine(text: string, context: ParseContext): Promise<DescribedServers> {
  const words = splitWords(text).map((word) => word.replace(/^~(?=$|[/\\])/, context.home));
  const added = parseClientCommand(words);
  if (added !== undefined) return { format: "client command", servers: added };
  const isAssigned = words.findIndex((word) => !ASSIGNMENT.test(word));
  const at = isAssigned < 0 ? words.length : isAssigned;
  const env = Object.fromEntries(
    words.slice(0, at).map((word) => {
      const [, name = "", value = ""] = ASSIGNMENT.exec(word) ?? [];
      return [name, value];
    }),
  );
  const command = words.slice(at);
  const [first = ""] = command;
  const { name, entry } = await toTarget(command, text, context);
  const described = {
    name,
    entry: Object.keys(env).length === 0 ? entry : { ...entry, env },
    client: clientOf("claude-code"),
  };
  const format = URL_LIKE.test(first) ? "address" : command.length === 1 && !isLauncher(first) ? "package" : "command";
  return { format, servers: [described] };
}

/** One word may be a package; several are a command line if the first is a program, or a package that says so. */
async function toTarget(words: readonly string[], text: string, { path }: ParseContext): Promise<Target> {
  const [first = "", ...args] = words;
  if (args.length === 0) return parseTarget(first, { cwd: "/" });
  if (isLauncher(first) || /[/\\]/.test(first.replace(/^@[^/]*\//, ""))) {
    if (!URL_LIKE.test(first)) return fromCommand(words, "/");
  }
  if (isTarget(first)) return parseTarget(first, { args, cwd: "/" });
  if ((await findProgram(first, path)) !== undefined) return fromCommand(words, "/");
  const shown = text.length > 80 ? `${text.slice(0, 80)}…` : text;
  throw new HubError("InvalidArgument", `Cannot tell what ${JSON.stringify(shown)} is`, {
    field: "text",
    detail: `There is no program ${JSON.stringify(first)} on the hub's PATH`,
    hint: "Paste a command such as npx -y PACKAGE, an address, a package, or the JSON of a README",
  });
}

/** Removes the fence of a code block and the prompt of a shell. */
function withoutFence(text: string): string {
  const inner = /^\s*```[\w-]*\n(.*?)\n?```\s*$/s.exec(text)?.[1] ?? text;
  return inner.trim().replace(/^[$>] +/, "");
}
