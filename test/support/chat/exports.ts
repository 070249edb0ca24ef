// The same invented conversation in the export format of each app.

import type { Change, FileImporter } from "../../../chat/src/model/source.ts";
import { discordImporter } from "../../../chat/src/importers/discord/importer.ts";
import { signalImporter } from "../../../chat/src/importers/signal/importer.ts";
import { slackImporter } from "../../../chat/src/importers/slack/importer.ts";
import { telegramImporter } from "../../../chat/src/importers/telegram/importer.ts";
import { whatsappImporter } from "../../../chat/src/importers/whatsapp/importer.ts";
import { ALICE, FRAMES, jsonLines, standard } from "./signal-export.ts";
import { writeJson, type Json } from "./telegram-export.ts";
import { zipOf } from "./zip.ts";

/** One message at the time of the export. */
export interface Said {
  readonly number: number;
  readonly at: number;
  readonly text: string;
  readonly edited?: { readonly text: string; readonly at: number };
  readonly hasReaction?: boolean;
  readonly isRemoved?: boolean;
}

export interface Export {
  readonly importer: FileImporter;
  /** File contents by name; several files become a zip. */
  readonly files: (said: readonly Said[]) => Readonly<Record<string, string>>;
  /** The imported form of a reaction. */
  readonly sign: string;
  /** What the export lacks, and why. */
  readonly cannot: Readonly<Partial<Record<Change, string>>>;
}

const SECOND_MS = 1000;
const iso = (at: number): string => new Date(at).toISOString();
const seconds = (at: number): string => String(Math.floor(at / SECOND_MS));

const telegram = (said: readonly Said[]): string =>
  writeJson({
    name: "Alice",
    type: "personal_chat",
    id: 300,
    messages: said.map(({ number, at, text, edited, hasReaction }): Json => ({
      id: number,
      type: "message",
      date: iso(at).slice(0, 19),
      date_unixtime: seconds(at),
      ...(edited === undefined ? {} : { edited: iso(edited.at).slice(0, 19), edited_unixtime: seconds(edited.at) }),
      from: "Alice",
      from_id: "user300",
      text: edited?.text ?? text,
      ...(hasReaction === true
        ? { reactions: [{ type: "emoji", count: 1, emoji: "👍", recent: [{ from: "Bob", from_id: "user400" }] }] }
        : {}),
    })),
  });

/** Has no ids, edits or reactions. */
const whatsapp = (said: readonly Said[]): string =>
  said
    .map(({ at, text }) => {
      const [date = "", time = ""] = iso(at).split("T");
      return `[${date.split("-").toReversed().join("/")}, ${time.slice(0, 8)}] Alice: ${text}\n`;
    })
    .join("");

const signal = (said: readonly Said[]): string =>
  jsonLines([
    ...FRAMES,
    ...said.map(({ at, text, edited, hasReaction, isRemoved }) => {
      const sent = (when: number) => ({ chatId: "1", authorId: ALICE.number, dateSent: String(when), incoming: {} });
      const more =
        hasReaction === true ? { reactions: [{ emoji: "👍", authorId: "5", sentTimestamp: String(at + 1) }] } : {};
      if (isRemoved === true) return { chatItem: { ...sent(at), remoteDeletedMessage: {} } };
      if (edited === undefined) return { chatItem: { ...sent(at), ...standard(text, more) } };
      const revisions = [{ ...sent(at), ...standard(text) }];
      return { chatItem: { ...sent(edited.at), ...standard(edited.text, more), revisions } };
    }),
  ]);

const discord = (said: readonly Said[]): string =>
  JSON.stringify(
    {
      guild: { id: "0", name: "Direct Messages" },
      channel: { id: "77", type: "DirectTextChat", name: "alice" },
      messages: said.map(({ number, at, text, edited, hasReaction }) => ({
        id: String(1000 + number),
        type: "Default",
        timestamp: iso(at),
        timestampEdited: edited === undefined ? null : iso(edited.at),
        content: edited?.text ?? text,
        author: { id: "300", name: "alice" },
        reactions: hasReaction === true ? [{ emoji: { name: "👍" }, count: 1, users: [{ id: "400" }] }] : [],
      })),
    },
    null,
    2,
  );

const slack = (said: readonly Said[]): Record<string, string> => {
  const messages = said.map(({ at, text, edited, hasReaction, number }) => ({
    type: "message",
    user: "U1",
    ts: `${seconds(at)}.${String(number).padStart(6, "0")}`,
    text: edited?.text ?? text,
    ...(edited === undefined ? {} : { edited: { user: "U1", ts: `${seconds(edited.at)}.000000` } }),
    ...(hasReaction === true ? { reactions: [{ name: "thumbsup", users: ["U2"], count: 1 }] } : {}),
  }));
  const half = Math.ceil(messages.length / 2);
  return {
    "users.json": JSON.stringify([{ id: "U1", name: "alice" }]),
    "channels.json": JSON.stringify([{ id: "C1", name: "general", members: ["U1"] }]),
    "general/2025-01-13.json": JSON.stringify(messages.slice(0, half)),
    "general/2025-01-14.json": JSON.stringify(messages.slice(half)),
  };
};

const OMITTED = { deletions: "deleted messages are omitted" };

export const EXPORTS: readonly Export[] = [
  {
    importer: telegramImporter,
    files: (said) => ({ "result.json": telegram(said) }),
    sign: "👍",
    cannot: OMITTED,
  },
  {
    importer: whatsappImporter,
    files: (said) => ({ "WhatsApp Chat with Alice.txt": whatsapp(said) }),
    sign: "",
    cannot: {
      edits: "a message has no id but its words",
      reactions: "reactions are left out",
      deletions: "a deleted message has no id, and its words are gone",
    },
  },
  { importer: signalImporter, files: (said) => ({ "main.jsonl": signal(said) }), sign: "👍", cannot: {} },
  { importer: discordImporter, files: (said) => ({ "alice.json": discord(said) }), sign: "👍", cannot: OMITTED },
  { importer: slackImporter, files: slack, sign: ":thumbsup:", cannot: OMITTED },
];

/** The file given to the importer. */
export function exported(files: Readonly<Record<string, string>>): { readonly name: string; readonly content: Buffer } {
  const [[name, content] = ["", ""], ...others] = Object.entries(files);
  return others.length === 0 ? { name, content: Buffer.from(content) } : { name: "export.zip", content: zipOf(files) };
}
