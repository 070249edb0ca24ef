// The kinds of sources that chat.json may name, and how one is made of its entry. A new kind is a line below.

import { z } from "zod";
import { firstIssue } from "../config/file.ts";
import { resolveSecrets } from "../config/secrets.ts";
import type { SourceEntry } from "../config/schema.ts";
import { ChatError } from "../errors.ts";
import type { ChatSource } from "../source.ts";
import { createBroken } from "./broken.ts";
import { createImported } from "./imported.ts";
import { createJsonl } from "./jsonl.ts";
import { createSignalCli } from "./signal-cli/signal-cli.ts";
import { createTelegramBot } from "./telegram-bot/telegram-bot.ts";

interface Identity {
  readonly id: string;
  readonly name: string;
}

interface Kind {
  /** How a source is called where its entry does not say. */
  readonly label: string;
  create(identity: Identity, options: unknown): ChatSource;
}

function kind<S extends z.ZodType>(
  label: string,
  options: S,
  create: (identity: Identity, options: z.output<S>) => ChatSource,
): Kind {
  return { label, create: (identity, given) => create(identity, options.parse(given)) };
}

const KINDS: Readonly<Record<string, Kind>> = {
  import: kind("Imported files", z.strictObject({}), (identity) => createImported(identity)),
  jsonl: kind("Event file", z.strictObject({ path: z.string().min(1) }), (identity, { path }) =>
    createJsonl({ ...identity, path }),
  ),
  "telegram-bot": kind(
    "Telegram",
    z.strictObject({ token: z.string().min(1), api_root: z.url().exactOptional() }),
    (identity, { token, api_root: apiRoot }) =>
      createTelegramBot({ ...identity, token: async () => token, ...(apiRoot === undefined ? {} : { apiRoot }) }),
  ),
  signal: kind("Signal", z.strictObject({ url: z.url(), account: z.string().exactOptional() }), (identity, options) =>
    createSignalCli({ ...identity, ...options }),
  ),
};

/** Never rejects: a source that cannot be made says why as its state. */
export async function createSource(
  id: string,
  entry: SourceEntry,
  env: Readonly<Record<string, string | undefined>>,
): Promise<ChatSource> {
  const where = `sources.${id}`;
  const found = KINDS[entry.kind];
  const name = entry.name ?? found?.label ?? id;
  try {
    if (found === undefined) {
      const known = Object.keys(KINDS).join(", ");
      throw new ChatError("INVALID_PARAMETER", `${where}.kind: there is no kind '${entry.kind}'`, {
        hint: `Use one of ${known}`,
      });
    }
    return found.create({ id, name }, await resolveSecrets(entry.options, env, `${where}.options`));
  } catch (error) {
    return createBroken(id, entry.kind, name, toConfigError(error, `${where}.options`));
  }
}

function toConfigError(error: unknown, where: string): ChatError {
  if (error instanceof ChatError) return error;
  if (!(error instanceof z.ZodError)) throw error;
  const { field, message } = firstIssue(error);
  return new ChatError("INVALID_PARAMETER", `${where}.${field}: ${message}`, {
    hint: `Correct ${where}.${field} in chat.json, then start the chat server again`,
  });
}
