// `plugboard-chat add KIND`: writes a live source into chat.json. Secrets are stored as references to a variable or file.

import type { Command } from "commander";
import { access, constants } from "node:fs/promises";
import { resolve } from "node:path";
import { readConfig, writeSource } from "../config/file.ts";
import { prepareHome } from "../config/home.ts";
import { invalid } from "../errors.ts";
import { daemonCommand } from "../sources/signal-cli/command.ts";
import { checkOptions } from "../sources/kinds.ts";
import type { Context, Io } from "./io.ts";

interface AddOptions {
  readonly as?: string;
  readonly name?: string;
  readonly tokenFile?: string;
  readonly tokenEnv?: string;
  readonly passwordFile?: string;
  readonly passwordEnv?: string;
  readonly [option: string]: string | undefined;
}

interface Addable {
  readonly kind: string;
  readonly description: string;
  /** Default id. */
  readonly id: string;
  /** Flag, name in chat.json, and description. */
  readonly flags: readonly (readonly [flags: string, option: string, description: string])[];
  readonly secret?: "token" | "password";
  readonly required: readonly string[];
  /** Next step for the user. */
  readonly next?: (values: Readonly<Record<string, string>>) => string;
}

const ADDABLE: Readonly<Record<string, Addable>> = {
  "telegram-bot": {
    kind: "telegram-bot",
    description: "Telegram, through a bot created with @BotFather",
    id: "telegram",
    flags: [["--api-root <url>", "api_root", "URL of a self-hosted Bot API server"]],
    secret: "token",
    required: [],
    next: () =>
      "Add the bot to your groups (with privacy mode off), or connect it to your account under Business > Chatbots",
  },
  signal: {
    kind: "signal-cli",
    description: "Signal, through a running signal-cli daemon",
    id: "signal",
    flags: [
      ["--url <url>", "url", "URL of the daemon, such as http://127.0.0.1:8080"],
      ["--account <number>", "account", "your number, if the daemon serves several"],
    ],
    required: ["url"],
    next: ({ url = "", account }) => `Start the daemon: ${daemonCommand({ url, account })}`,
  },
  xmpp: {
    kind: "xmpp",
    description: "XMPP",
    id: "xmpp",
    flags: [
      ["--jid <jid>", "jid", "you@example.org"],
      ["--service <url>", "service", "server URL, such as xmpps://example.org:5223"],
    ],
    secret: "password",
    required: ["jid", "service"],
    next: () => "List the rooms to join in chat.json, as options.rooms",
  },
  matrix: {
    kind: "matrix",
    description: "Matrix, for rooms that are not encrypted",
    id: "matrix",
    flags: [["--url <url>", "url", "URL of your homeserver, such as https://matrix.example.org"]],
    secret: "token",
    required: ["url"],
  },
};

export function addCommand(program: Command, { io }: Context): void {
  const add = program.command("add").description("add a live source: telegram-bot, signal, xmpp or matrix");
  for (const [word, addable] of Object.entries(ADDABLE)) {
    const command = add
      .command(word)
      .description(addable.description)
      .option("--as <id>", "id of the source", addable.id)
      .option("--name <name>", "display name");
    for (const [flags, , description] of addable.flags) command.option(flags, description);
    if (addable.secret !== undefined) {
      command.option(`--${addable.secret}-file <file>`, `file that contains the ${addable.secret}`);
      command.option(`--${addable.secret}-env <name>`, `environment variable with the ${addable.secret}`);
    }
    command.action(async (options: AddOptions) => addSource(io, addable, options));
  }
}

async function addSource(io: Io, addable: Addable, options: AddOptions): Promise<void> {
  const home = await prepareHome({ ...io, log: (line) => io.stderr.write(`${line}\n`) });
  const config = await readConfig(home);
  const id = options.as ?? addable.id;
  const known = config.sources[id];
  // A source that only holds imports becomes live and keeps them.
  if (known !== undefined && (known.kind !== "import" || known.options["path"] !== undefined)) {
    throw invalid("as", `Source '${id}' already exists`, `Choose another id with --as, or edit ${home.config}`);
  }
  const values: Record<string, string> = {};
  for (const [flags, option] of addable.flags) {
    const value = options[camel(flags)];
    if (value !== undefined) values[option] = value;
    else if (addable.required.includes(option)) throw invalid(option, `Missing option '${option}'`, `Give ${flags}`);
  }
  if (addable.secret !== undefined) Object.assign(values, secretOf(addable.secret, options));
  const { url } = values;
  if (url !== undefined && !URL.canParse(url))
    throw invalid("url", `Invalid URL '${url}'`, "Use a URL such as http://127.0.0.1:8080");
  checkOptions(addable.kind, values);
  await writeSource(home, id, {
    kind: addable.kind,
    ...(options.name === undefined ? {} : { name: options.name }),
    options: values,
    ...(known === undefined ? {} : { chats: known.chats }),
  });
  io.stdout.write(`Added source ${id} (${addable.kind}) to ${home.config}\n`);
  const file = values[`${addable.secret}_file`];
  if (file !== undefined && !(await isReadable(file)))
    io.stdout.write(`Note: ${file} is not readable yet; the chat server needs it\n`);
  if (addable.next !== undefined) io.stdout.write(`Next: ${addable.next(values)}\n`);
}

function secretOf(secret: "token" | "password", options: AddOptions): Record<string, string> {
  const file = options[`${secret}File`];
  const env = options[`${secret}Env`];
  // Absolute, since the chat server may run in another folder.
  if (file !== undefined) return { [`${secret}_file`]: resolve(file) };
  if (env !== undefined) return { [secret]: `\${env:${env}}` };
  throw invalid(secret, `The ${secret} is missing`, `Give --${secret}-file FILE or --${secret}-env NAME`);
}

async function isReadable(path: string): Promise<boolean> {
  return access(path, constants.R_OK).then(
    () => true,
    () => false,
  );
}

/** The property name that commander uses for a flag. */
function camel(flags: string): string {
  return (/^--([a-z-]+)/.exec(flags)?.[1] ?? "").replaceAll(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
