// What was sent, one line each, in a file of the user's: who looks for what an agent did finds it here, and a key that was
// sent already is not sent again. A line is written before the message leaves and one after it has.

import { createHash } from "node:crypto";
import { appendFile, readFile } from "node:fs/promises";
import { z } from "zod";
import { ChatError, invalid } from "./errors.ts";

const Line = z.object({
  at: z.number(),
  source: z.string(),
  chat: z.string(),
  key: z.string(),
  /** Of the text: the log is no second copy of what was said. */
  hash: z.string(),
  chars: z.number(),
  outcome: z.enum(["begun", "sent", "failed"]),
  id: z.string().optional(),
});
type Line = z.infer<typeof Line>;

export interface Sending {
  readonly source: string;
  readonly chat: string;
  readonly key: string;
  readonly text: string;
}

export interface SentEntry {
  readonly id: string;
  readonly at: number;
}

export class SentLog {
  readonly #path: string;
  readonly #underWay = new Map<string, Promise<SentEntry>>();

  constructor(path: string) {
    this.#path = path;
  }

  /** Sends unless this key was sent before. */
  async once(
    sending: Sending,
    send: () => Promise<SentEntry>,
  ): Promise<{ readonly entry: SentEntry; readonly repeated: boolean }> {
    const name = JSON.stringify([sending.source, sending.chat, sending.key]);
    const running = this.#underWay.get(name);
    if (running !== undefined) return { entry: await running, repeated: true };
    const line = {
      source: sending.source,
      chat: sending.chat,
      key: sending.key,
      hash: hashOf(sending.text),
      chars: sending.text.length,
    };
    const before = await this.#find(sending);
    if (before !== undefined && before.hash !== line.hash) {
      throw invalid(
        "idempotency_key",
        `The key '${sending.key}' was used for another text`,
        "Use a new key for a new message",
      );
    }
    if (before?.outcome === "sent") return { entry: { id: before.id ?? "", at: before.at }, repeated: true };
    if (before?.outcome === "begun") {
      throw new ChatError(
        "SEND_NOT_ALLOWED",
        "It is not known whether this message was sent: the server was ended over it",
        {
          hint: "Look into the chat; use a new idempotency_key to send it all the same",
        },
      );
    }
    const sent = this.#send(line, send);
    this.#underWay.set(name, sent);
    try {
      return { entry: await sent, repeated: false };
    } finally {
      this.#underWay.delete(name);
    }
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

  /** The last that is known of a key. */
  async #find({ source, chat, key }: Sending): Promise<Line | undefined> {
    const text = await readFile(this.#path, "utf8").catch((error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT") return "";
      throw error;
    });
    let found: Line | undefined;
    for (const raw of text.split("\n")) {
      if (!raw.includes(JSON.stringify(key))) continue;
      const line = Line.safeParse(parseJson(raw));
      if (line.success && line.data.source === source && line.data.chat === chat && line.data.key === key)
        found = line.data;
    }
    return found;
  }
}

/** A line that a kill cut short is none. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("base64url");
}
