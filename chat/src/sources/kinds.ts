// The kinds of sources that chat.json may name, and how one is made of its entry. A new kind is a line below.

import { z } from "zod";
import { firstIssue } from "../config/file.ts";
import { resolveSecrets } from "../config/secrets.ts";
import { TimeZone, type SourceEntry } from "../config/schema.ts";
import { ChatError } from "../errors.ts";
import type { ChatSource } from "../source.ts";
import { createBroken } from "./broken.ts";
import { createImported } from "./imported.ts";
import { createJsonl } from "./jsonl.ts";

interface Identity {
  readonly id: string;
  readonly name: string;
}

/** What a source may need of its surroundings. */
export interface SourceSurroundings {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Of times that carry none. */
  readonly timeZone: string;
}

interface Kind {
  /** How a source is called where its entry does not say. */
  readonly label: string;
  create(identity: Identity, options: unknown, surroundings: SourceSurroundings): Promise<ChatSource>;
}

function kind<S extends z.ZodType>(
  label: string,
  options: S,
  create: (
    identity: Identity,
    options: z.output<S>,
    surroundings: SourceSurroundings,
  ) => Promise<ChatSource> | ChatSource,
): Kind {
  return {
    label,
    create: async (identity, given, surroundings) => await create(identity, options.parse(given), surroundings),
  };
}

/** What a live one needs is loaded when there is one. */
const KINDS: Readonly<Record<string, Kind>> = {
  import: kind(
    "Imported files",
    z.strictObject({
      path: z.string().min(1).optional(),
      time_zone: TimeZone.optional(),
      date_order: z.enum(["DMY", "MDY", "YMD"]).optional(),
      self: z.string().min(1).exactOptional(),
    }),
    async (identity, { path, time_zone, date_order: dateOrder, ...options }, { timeZone }) => {
      if (path === undefined) return createImported(identity);
      const [{ FileSource }, { recognise }] = await Promise.all([
        import("../files/file-source.ts"),
        import("../files/importers.ts"),
      ]);
      return new FileSource({
        ...identity,
        ...options,
        path,
        importer: await recognise(path),
        timeZone: time_zone ?? timeZone,
        ...(dateOrder === undefined ? {} : { dateOrder }),
      });
    },
  ),
  jsonl: kind("Event file", z.strictObject({ path: z.string().min(1) }), (identity, { path }) =>
    createJsonl({ ...identity, path }),
  ),
  "telegram-bot": kind(
    "Telegram",
    z.strictObject({ token: z.string().min(1), api_root: z.url().optional() }),
    async (identity, { token, api_root: apiRoot }) => {
      const { createTelegramBot } = await import("./telegram-bot/telegram-bot.ts");
      return createTelegramBot({
        ...identity,
        token: async () => token,
        ...(apiRoot === undefined ? {} : { apiRoot }),
      });
    },
  ),
  "signal-cli": kind(
    "Signal",
    z.strictObject({ url: z.url(), account: z.string().min(1).exactOptional() }),
    async (identity, options) => {
      const { createSignalCli } = await import("./signal-cli/signal-cli.ts");
      return createSignalCli({ ...identity, ...options });
    },
  ),
  xmpp: kind(
    "XMPP",
    z.strictObject({
      service: z.string().regex(/^xmpps?:\/\//, "is no address such as xmpps://host:5223"),
      jid: z.string().regex(/^[^@/\s]+@[^@/\s]+$/, "is no user@domain"),
      password: z.string().min(1),
      rooms: z
        .array(z.strictObject({ jid: z.string().min(1), nick: z.string().min(1).exactOptional() }))
        .exactOptional(),
      history_days: z.int().min(0).max(36_500).optional(),
    }),
    async (identity, { password, history_days: historyDays, ...options }) => {
      const { createXmpp } = await import("./xmpp/xmpp.ts");
      return createXmpp({
        ...identity,
        ...options,
        password: async () => password,
        ...(historyDays === undefined ? {} : { historyDays }),
      });
    },
  ),
  matrix: kind(
    "Matrix",
    z.strictObject({ url: z.url(), token: z.string().min(1) }),
    async (identity, { url, token }) => {
      const { createMatrix } = await import("./matrix/matrix.ts");
      return createMatrix({ ...identity, url, accessToken: async () => token });
    },
  ),
};

/** Never rejects: a source that cannot be made says why as its state. */
export async function createSource(
  id: string,
  entry: SourceEntry,
  surroundings: SourceSurroundings,
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
    const options = await resolveSecrets(entry.options, surroundings.env, `${where}.options`);
    return await found.create({ id, name }, options, surroundings);
  } catch (error) {
    return createBroken(id, entry.kind, name, toConfigError(error, `${where}.options`));
  }
}

function toConfigError(error: unknown, where: string): ChatError {
  if (error instanceof ChatError) return error;
  if (!(error instanceof z.ZodError)) throw error;
  const { field, message } = firstIssue(error);
  return new ChatError("INVALID_PARAMETER", `${where}.${field}: ${message}`, {
    hint: `Correct ${where}.${field} in chat.json`,
  });
}
