// A file as a network for the contract tests: every action rewrites it, like a new export.

import { readdir, readlink, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { FileSource } from "../../../chat/src/importers/file-source.ts";
import { jsonlImporter } from "../../../chat/src/importers/jsonl.ts";
import type { Change, FileImporter, SourceEvent } from "../../../chat/src/model/source.ts";
import type { NetworkAction, SendOptions, Network } from "./contract.ts";
import { exported, type Export, type Said } from "./exports.ts";
import { temporaryFolder } from "./import-file.ts";

/** The content of the file after actions. */
interface Book {
  /** Reserves a message that is not sent yet. Returns its target. */
  announce(text: string, at: number): string;
  /** Sends the reserved message. Earlier messages are no longer in the file. */
  say(target: string): void;
  edit(target: string, text: string): void;
  react(target: string): string;
  remove(target: string): void;
  content(): { readonly name: string; readonly content: string | Buffer };
}

const FIRST_AT = Date.UTC(2025, 0, 13, 10);
const SECOND_MS = 1000;
const MINUTE_MS = 60_000;

export const createExportNetwork = (one: Export): Promise<Network> =>
  createNetwork(one.importer, new ExportBook(one), one.cannot);
export const createEventNetwork = (): Promise<Network> => createNetwork(jsonlImporter, new EventBook(), {});

async function createNetwork(importer: FileImporter, book: Book, cannot: Export["cannot"]): Promise<Network> {
  const folder = await temporaryFolder();
  const path = join(folder.path, book.content().name);
  const targets = new Map<string, string>();
  let nextAt = FIRST_AT;
  /** Replaces the file. */
  const write = async (): Promise<void> => {
    await writeFile(`${path}.draft`, book.content().content);
    await rename(`${path}.draft`, path);
  };
  const announce = (text: string, { at }: SendOptions = {}): string => {
    const target = book.announce(text, Math.floor((at ?? (nextAt += SECOND_MS)) / SECOND_MS) * SECOND_MS);
    targets.set(text, target);
    return target;
  };
  const ifReported = <T>(change: Change, action: T): NetworkAction<T> => {
    const reason = cannot[change];
    return reason === undefined ? action : { cannot: reason };
  };
  await write();
  return {
    createSource: () => new FileSource({ id: "file", importer, path, timeZone: "UTC" }),
    entry: () => ({ kind: "import", options: { path } }),
    actions: {
      edits: ifReported("edits", async (target: string, text: string) => {
        book.edit(target, text);
        await write();
      }),
      reactions: ifReported("reactions", async (target: string) => {
        const sign = book.react(target);
        await write();
        return sign;
      }),
      deletions: ifReported("deletions", async (target: string) => {
        book.remove(target);
        await write();
      }),
    },
    send: async (text, how) => {
      book.say(announce(text, how));
      await write();
    },
    sendAll: async (texts) => {
      for (const text of texts) book.say(announce(text));
      await write();
    },
    reserve: (text, how) => {
      const target = announce(text, how);
      return {
        target,
        say: async () => {
          book.say(target);
          await write();
        },
      };
    },
    target: ({ content }) => targets.get(content) ?? "",
    unseenTarget: () => announce("unseen"),
    refuse: (refused) => (refused ? rename(path, `${path}.away`) : rename(`${path}.away`, path)),
    refusedAs: "error",
    open: () => openDescriptors(path),
    close: () => folder.remove(),
  };
}

/** Export of an app: contains the state of each message at the time of the export. */
class ExportBook implements Book {
  readonly #export: Export;
  readonly #said = new Map<string, Said>();
  /** Reserved messages. */
  readonly #hidden = new Map<string, Said>();

  constructor(one: Export) {
    this.#export = one;
  }

  announce(text: string, at: number): string {
    const number = this.#said.size + this.#hidden.size + 1;
    this.#hidden.set(String(number), { number, at, text });
    return String(number);
  }

  /** An older export, before any change. */
  say(target: string): void {
    const { number, at, text } = this.#find(target);
    this.#show(target, { number, at, text });
  }

  edit(target: string, text: string): void {
    const said = this.#find(target);
    this.#show(target, { ...said, edited: { text, at: said.at + MINUTE_MS } });
  }

  react(target: string): string {
    this.#show(target, { ...this.#find(target), hasReaction: true });
    return this.#export.sign;
  }

  remove(target: string): void {
    this.#show(target, { ...this.#find(target), isRemoved: true });
  }

  content(): { readonly name: string; readonly content: Buffer } {
    return exported(this.#export.files([...this.#said.values()]));
  }

  #find(target: string): Said {
    const said = this.#said.get(target) ?? this.#hidden.get(target);
    if (said === undefined) throw new Error(`No message ${target}`);
    return said;
  }

  #show(target: string, said: Said): void {
    this.#hidden.delete(target);
    this.#said.set(target, said);
  }
}

/** Event lines in chronological order. */
class EventBook implements Book {
  readonly #announced = new Map<string, SourceEvent>();
  readonly #lines: SourceEvent[] = [
    { type: "chat", chat: { id: "c", name: "Alice", type: "direct" } },
    { type: "person", person: { id: "alice", name: "Alice" } },
  ];
  #at = FIRST_AT;

  announce(text: string, at: number): string {
    const id = String(this.#announced.size + 1);
    const message = { id, chat: "c", sender: "alice", at, kind: "text", content: text } as const;
    this.#announced.set(id, { type: "message", message, origin: "live" });
    return id;
  }

  say(target: string): void {
    const event = this.#announced.get(target);
    if (event !== undefined) this.#lines.push(event);
  }

  edit(target: string, text: string): void {
    this.#lines.push({ type: "edit", chat: "c", id: target, content: text, at: this.#later() });
  }

  react(target: string): string {
    const at = this.#later();
    this.#lines.push({ type: "reaction", chat: "c", id: target, by: "bob", emoji: "👍", removed: false, at });
    return "👍";
  }

  remove(target: string): void {
    this.#lines.push({ type: "delete", chat: "c", ids: [target], at: this.#later() });
  }

  content(): { readonly name: string; readonly content: string } {
    return { name: "events.jsonl", content: this.#lines.map((line) => `${JSON.stringify(line)}\n`).join("") };
  }

  #later(): number {
    return (this.#at += MINUTE_MS);
  }
}

/** Open handles of this process on the file, if the system reports them. */
async function openDescriptors(path: string): Promise<number> {
  const names = await readdir("/proc/self/fd").catch(() => []);
  const targets = await Promise.all(names.map((name) => readlink(`/proc/self/fd/${name}`).catch(() => "")));
  return targets.filter((target) => target === path).length;
}
