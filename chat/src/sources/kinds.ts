// The source kinds of chat.json: option schemas and factories. Add a new kind to `KINDS`.

import { z } from "zod";
import { firstIssue } from "../config/file.ts";
import { resolveSecrets, withPlaceholders } from "../config/secrets.ts";
import { TimeZone, type SourceEntry } from "../config/schema.ts";
import { ChatError } from "../errors.ts";
import type { ChatSource } from "../model/source.ts";
import { createBrokenSource } from "./broken-source.ts";
import { createImportedSource } from "./imported-source.ts";
import { createJsonlSource } from "./jsonl-source.ts";

const ImportLimit = z.int().min(1).exactOptional();
const ImportLimitsShape = z.strictObject({
  entries: ImportLimit,
  entry_bytes: ImportLimit,
  total_bytes: ImportLimit,
  ratio: ImportLimit,
  line_bytes: ImportLimit,
});

interface Identity {
  readonly id: string;
  readonly name: string;
}

export interface SourceEnvironment {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** For times without one. */
  readonly timeZone: string;
}

interface Kind {
  /** Default name. */
  readonly label: string;
  /** Throws if the options are invalid. */
  check(options: unknown): void;
  create(identity: Identity, options: unknown, environment: SourceEnvironment): Promise<ChatSource>;
}

function kind<S extends z.ZodType>(
  label: string,
  options: S,
  create: (
    identity: Identity,
    options: z.output<S>,
    environment: SourceEnvironment,
  ) => Promise<ChatSource> | ChatSource,
): Kind {
  return {
    label,
    check: (given) => void options.parse(given),
    create: async (identity, given, environment) => await create(identity, options.parse(given), environment),
  };
}

/** Modules of live sources are loaded on demand. */
const KINDS: Readonly<Record<string, Kind>> = {
  import: kind(
    "Imported files",
    z.strictObject({
      path: z.string().min(1).optional(),
      time_zone: TimeZone.optional(),
      date_order: z.enum(["DMY", "MDY", "YMD"]).optional(),
      self: z.string().min(1).exactOptional(),
      limits: ImportLimitsShape.exactOptional(),
    }),
    async (identity, { path, time_zone, date_order: dateOrder, ...options }, { timeZone }) => {
      if (path === undefined) return createImportedSource(identity);
      const [{ FileSource }, { detectImporter: recognise }] = await Promise.all([
        import("../importers/file-source.ts"),
        import("../importers/importers.ts"),
      ]);
      return new FileSource({
        ...identity,
        ...options,
        path,
        importer: await recognise(path, options.limits),
        timeZone: time_zone ?? timeZone,
        ...(dateOrder === undefined ? {} : { dateOrder }),
      });
    },
  ),
  jsonl: kind("Event file", z.strictObject({ path: z.string().min(1) }), (identity, { path }) =>
    createJsonlSource({ ...identity, path }),
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
      service: z.string().regex(/^xmpps?:\/\//, "must be a URL such as xmpps://host:5223"),
      jid: z.string().regex(/^[^@/\s]+@[^@/\s]+$/, "must be user@domain"),
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

/** Throws if the options of a source are invalid. Secrets are not resolved. */
export function checkOptions(kindName: string, options: Readonly<Record<string, unknown>>): void {
  KINDS[kindName]?.check(withPlaceholders(options));
}

/** Never rejects: a source that cannot be created shows the error as its state. */
export async function createSource(
  id: string,
  entry: SourceEntry,
  environment: SourceEnvironment,
): Promise<ChatSource> {
  const where = `sources.${id}`;
  const found = KINDS[entry.kind];
  const name = entry.name ?? nameOf(id, entry.kind, found?.label);
  try {
    if (found === undefined) {
      const known = Object.keys(KINDS).join(", ");
      throw new ChatError("INVALID_PARAMETER", `${where}.kind: unknown kind '${entry.kind}'`, {
        hint: `Use one of ${known}`,
      });
    }
    const options = await resolveSecrets(entry.options, environment.env, `${where}.options`);
    return await found.create({ id, name }, options, environment);
  } catch (error) {
    return createBrokenSource(id, entry.kind, name, toConfigError(error, `${where}.options`));
  }
}

/** Default name: the network, and the id if it differs. */
function nameOf(id: string, kindOf: string, label = kindOf): string {
  if (kindOf === "import") return `${NETWORKS.find((name) => name.toLowerCase() === id) ?? id} (imported)`;
  return label.toLowerCase() === id.toLowerCase() ? label : `${label} (${id})`;
}

/** Default source ids of imports. */
const NETWORKS = ["Telegram", "WhatsApp", "Signal", "Slack", "Discord"];

function toConfigError(error: unknown, where: string): ChatError {
  if (error instanceof ChatError) return error;
  if (!(error instanceof z.ZodError)) throw error;
  const { field, message } = firstIssue(error);
  return new ChatError("INVALID_PARAMETER", `${where}.${field}: ${message}`, {
    hint: `Correct ${where}.${field} in chat.json`,
  });
}
