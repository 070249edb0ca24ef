// `plugboard-chat add KIND`: writes a live source into chat.json. Secrets are named, never copied: a variable or a file.

import type { Command } from "commander";
import { readConfig, writeSource } from "../config/file.ts";
import { chatHome } from "../config/home.ts";
import { invalid } from "../errors.ts";
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
  /** Id where none is given. */
  readonly id: string;
  /** Flag, its name in chat.json, and what it is. */
  readonly flags: readonly (readonly [flags: string, option: string, description: string])[];
  readonly secret?: "token" | "password";
  readonly required: readonly string[];
  readonly next: string;
}

const ADDABLE: Readonly<Record<string, Addable>> = {
  "telegram-bot": {
    kind: "telegram-bot",
    description: "Telegram, through a bot that you make with @BotFather",
    id: "telegram",
    flags: [["--api-root <url>", "api_root", "of a Bot API server of your own"]],
    secret: "token",
    required: [],
    next: "Add the bot to your groups (with privacy mode off), or connect it to your account under Business > Chatbots",
  },
  signal: {
    kind: "signal-cli",
    description: "Signal, through a signal-cli daemon that runs beside",
    id: "signal",
    flags: [
      ["--url <url>", "url", "of the daemon, such as http://127.0.0.1:8080"],
      ["--account <number>", "account", "your number, where the daemon serves several"],
    ],
    required: ["url"],
    next: "Start the daemon: signal-cli -a NUMBER daemon --http 127.0.0.1:8080",
  },
  xmpp: {
    kind: "xmpp",
    description: "XMPP",
    id: "xmpp",
    flags: [
      ["--jid <jid>", "jid", "you@example.org"],
      ["--service <url>", "service", "such as xmpps://example.org:5223"],
    ],
    secret: "password",
    required: ["jid", "service"],
    next: "Rooms that it should join go into chat.json, as options.rooms",
  },
  matrix: {
    kind: "matrix",
    description: "Matrix, for rooms that are not encrypted",
    id: "matrix",
    flags: [["--url <url>", "url", "of your homeserver, such as https://matrix.example.org"]],
    secret: "token",
    required: ["url"],
    next: "",
  },
};

export function addCommand(program: Command, { io }: Context): void {
  const add = program.command("add").description("add a live source: telegram-bot, signal, xmpp or matrix");
  for (const [word, addable] of Object.entries(ADDABLE)) {
    const command = add
      .command(word)
      .description(addable.description)
      .option("--as <id>", "id of the source", addable.id)
      .option("--name <name>", "how it is called in lists");
    for (const [flags, , description] of addable.flags) command.option(flags, description);
    if (addable.secret !== undefined) {
      command.option(`--${addable.secret}-file <file>`, `file with the ${addable.secret}`);
      command.option(`--${addable.secret}-env <name>`, `variable with the ${addable.secret}`);
    }
    command.action(async (options: AddOptions) => addSource(io, addable, options));
  }
}

async function addSource(io: Io, addable: Addable, options: AddOptions): Promise<void> {
  const home = chatHome(io);
  const config = await readConfig(home);
  const id = options.as ?? addable.id;
  const known = config.sources[id];
  // One that only holds what was imported becomes live, and keeps it.
  if (known !== undefined && (known.kind !== "import" || known.options["path"] !== undefined)) {
    throw invalid("as", `There is a source '${id}' already`, `Use --as for another id, or edit ${home.config}`);
  }
  const values: Record<string, unknown> = {};
  for (const [flags, option] of addable.flags) {
    const value = options[camel(flags)];
    if (value !== undefined) values[option] = value;
    else if (addable.required.includes(option)) throw invalid(option, `'${option}' is missing`, `Give ${flags}`);
  }
  if (addable.secret !== undefined) Object.assign(values, secretOf(addable.secret, options));
  await writeSource(home, id, {
    kind: addable.kind,
    ...(options.name === undefined ? {} : { name: options.name }),
    options: values,
    ...(known === undefined ? {} : { chats: known.chats }),
  });
  io.stdout.write(`Source ${id} (${addable.kind}) is in ${home.config}\n`);
  if (addable.next !== "") io.stdout.write(`Next: ${addable.next}\n`);
}

function secretOf(secret: "token" | "password", options: AddOptions): Record<string, string> {
  const file = options[`${secret}File`];
  const env = options[`${secret}Env`];
  if (file !== undefined) return { [`${secret}_file`]: file };
  if (env !== undefined) return { [secret]: `\${env:${env}}` };
  throw invalid(secret, `The ${secret} is missing`, `Give --${secret}-file FILE or --${secret}-env NAME`);
}

/** As commander names what it has read. */
function camel(flags: string): string {
  return (/^--([a-z-]+)/.exec(flags)?.[1] ?? "").replaceAll(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
