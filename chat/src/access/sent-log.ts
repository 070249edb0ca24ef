// The log of sent messages, sent.jsonl: a line before a message is sent and one after. It shows the user what agents have sent,
// and makes sending idempotent by key across restarts.

import { createHash } from "node:crypto";
import { appendFile, readFile } from "node:fs/promises";
import { parseJson } from "@plugboard/shared/lenient";
import { z } from "zod";
import { ChatError, invalid } from "../errors.ts";

const Line = z.object({
  at: z.number(),
  source: z.string(),
  chat: z.string(),
  key: z.string(),
  /** A hash, so that the log is not a second copy of the text. */
  hash: z.string(),
  chars: z.number(),
  outcome: z.enum(["begun", "sent", "failed", "declined"]),
  /** The user was asked for permission. */
  asked: z.boolean().optional(),
  id: z.string().optional(),
});
type Line = z.infer<typeof Line>;

export interface Sending {
  readonly source: string;
  readonly chat: string;
  readonly key: string;
  readonly text: string;
  readonly asked: boolean;
}

export interface SentEntry {
  readonly id: string;
  readonly at: number;
}

export class SentLog {
  readonly #path: string;
  readonly #inFlight = new Map<string, Promise<SentEntry>>();

  constructor(path: string) {
    this.#path = path;
  }

  /** Sends unless a message with this key was sent before. */
  async sendOnce(
    sending: Sending,
    send: () => Promise<SentEntry>,
  ): Promise<{ readonly entry: SentEntry; readonly repeated: boolean }> {
    const name = JSON.stringify([sending.source, sending.chat, sending.key]);
    const running = this.#inFlight.get(name);
    if (running !== undefined) return { entry: await running, repeated: true };
    const before = await this.findSent(sending);
    if (before !== undefined) return { entry: before, repeated: true };
    const sent = this.#send(toLine(sending), send);
    this.#inFlight.set(name, sent);
    try {
      return { entry: await sent, repeated: false };
    } finally {
      this.#inFlight.delete(name);
    }
  }

  /** The entry of a message that was sent with this key. Throws if the key had another text, or the outcome is unknown. */
  async findSent(sending: Sending): Promise<SentEntry | undefined> {
    const before = await this.#find(sending);
    if (before !== undefined && before.hash !== hashOf(sending.text)) {
      throw invalid(
        "idempotency_key",
        `The key '${sending.key}' was used for another text`,
        "Use a new key for a new message",
      );
    }
    if (before?.outcome === "sent") return { id: before.id ?? "", at: before.at };
    if (before?.outcome === "begun") {
      throw new ChatError(
        "SEND_NOT_ALLOWED",
        "It is not known whether this message was sent: the server ended while sending it",
        {
          hint: "Check the chat; use a new idempotency_key to send it again",
        },
      );
    }
    return undefined;
  }

  async recordDeclined(sending: Sending): Promise<void> {
    await this.#write({ ...toLine(sending), at: Date.now(), outcome: "declined" });
  }

  async #send(line: Omit<Line, "at" | "outcome">, send: () => Promise<SentEntry>): Promise<SentEntry> {
    await this.#write({ ...line, at: Date.now(), outcome: "begun" });
    try {
      const entry = await send();
      await this.#write({ ...line, at: entry.at, outcome: "sent", id: entry.id });
      return entry;
    } catch (error) {
      await this.#write({ ...line, at: Date.now(), outcome: "failed" });
      throw error;
    }
  }

  async #write(line: Line): Promise<void> {
    await appendFile(this.#path, `${JSON.stringify(line)}\n`, { mode: 0o600, flush: true });
  }

  /** The last line with this key. */
  async #find({ source, chat, key }: Sending): Promise<Line | undefined> {
    const text = await readFile(this.#path, "utf8").catch((error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT") return "";
      throw error;
    });
    let found: Line | undefined;
    for (const raw of text.split("\n")) {
      if (!raw.includes(JSON.stringify(key))) continue;
      const line = Line.safeParse(parseJson(raw));
      if (!line.success || line.data.outcome === "declined") continue;
      if (line.data.source === source && line.data.chat === chat && line.data.key === key) found = line.data;
    }
    return found;
  }
}

function toLine({ source, chat, key, text, asked }: Sending): Omit<Line, "at" | "outcome"> {
  return { source, chat, key, hash: hashOf(text), chars: text.length, ...(asked ? { asked } : {}) };
}

function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("base64url");
}
