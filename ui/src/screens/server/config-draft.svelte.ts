// A server's entry while it is edited: what it was when the edit began, what it is now, and what it becomes.

import type { ConfigCheck } from "$api/config.ts";
import type { Server } from "$api/server.ts";
import { api, Problem as Failed } from "../../lib/hub/api.ts";
import { toFileEntry } from "../../lib/servers/entry-text.ts";
import { lineAt, lineOfField } from "../../lib/text/json-places.ts";
import { JsonSyntaxError, parseJson } from "../../lib/text/json.ts";
import { pathTo } from "../../lib/route.ts";
import { servers } from "../../state/servers.svelte.ts";
import { configText as text } from "../../text/server.ts";

export type Entry = Readonly<Record<string, unknown>>;

/** Members whose change needs no new process. */
const WITHOUT_RESTART = new Set(["description", "groups", "enabled"]);
/** Other servers may change at any time, which changes the revision of the config and nothing here. */
const MAX_TRIES = 5;

export class ConfigDraft {
  readonly #server: () => Server;
  #base: Entry | undefined = $state.raw();
  #entry: Entry | undefined = $state.raw();
  /** The text as it was typed: it may not be JSON yet. */
  #typed: string | undefined = $state();
  #check: ConfigCheck | undefined = $state.raw();
  #etag: string | undefined;
  /** Another change of this entry that was saved since the edit began. */
  conflict: Server | undefined = $state.raw();
  problem: Failed | undefined = $state.raw();
  isBusy = $state(false);

  constructor(server: () => Server) {
    this.#server = server;
  }

  readonly name = $derived.by(() => this.#server().config.name);
  readonly #saved: Entry = $derived.by(() => toFileEntry(this.#server()));
  readonly base: Entry = $derived(this.#base ?? this.#saved);
  readonly entry: Entry = $derived(this.#entry ?? this.#saved);
  readonly text = $derived(this.#typed ?? toText(this.entry));
  readonly isDirty = $derived(this.#entry !== undefined && toText(this.#entry) !== toText(this.base));
  readonly syntaxError = $derived(this.#typed === undefined ? undefined : syntaxErrorOf(this.#typed));
  readonly willRestart = $derived.by(() => {
    if (!this.isDirty || !this.#server().config.enabled) return false;
    return [...new Set([...Object.keys(this.entry), ...Object.keys(this.#saved)])].some(
      (key) => !WITHOUT_RESTART.has(key) && toText(this.entry[key]) !== toText(this.#saved[key]),
    );
  });
  readonly errors = $derived(
    (this.#check?.errors ?? []).map(({ field = "", message }) => ({
      field: field.replace(`mcpServers.${this.name}.`, ""),
      message: message.replace(/^Server "[^"]*": /, ""),
    })),
  );
  /** Lines of the text with something wrong. */
  readonly marks = $derived(
    this.syntaxError === undefined
      ? this.errors.map(({ field, message }) => ({ line: lineOfField(this.text, field), message }))
      : [this.syntaxError],
  );

  /** Remembers the revision that an edit begins with, so that another change in between is noticed at the save. */
  async readRevision(): Promise<void> {
    const { data, headers } = await this.#read();
    if (toText(toFileEntry(data)) === toText(this.base)) this.#etag = headers.get("etag") ?? undefined;
  }

  edit(entry: Entry): void {
    this.#base ??= this.#saved;
    this.#entry = entry;
    this.#typed = undefined;
  }

  editText(written: string): void {
    if (written === this.text) return;
    const entry = entryOf(written);
    if (entry !== undefined) this.edit(entry);
    this.#typed = written;
  }

  discard(): void {
    this.#base = undefined;
    this.#entry = undefined;
    this.#typed = undefined;
    this.#check = undefined;
    this.conflict = undefined;
    this.problem = undefined;
  }

  async validate(signal: AbortSignal): Promise<void> {
    const document = { mcpServers: { [this.name]: this.entry } };
    try {
      this.#check = await api.post<ConfigCheck>("/config/validate", document, { signal });
    } catch {
      // Not known: the save will say it.
      if (!signal.aborted) this.#check = undefined;
    }
  }

  /** Whether it is saved. If not, there is a problem or a conflict. */
  async save(): Promise<boolean> {
    this.isBusy = true;
    this.problem = undefined;
    try {
      for (let attempt = 1; ; attempt += 1) {
        // Each attempt follows what the one before it has found.
        // oxlint-disable-next-line no-await-in-loop
        if (await this.#put(attempt === MAX_TRIES)) return true;
        if (this.conflict !== undefined) return false;
      }
    } catch (error) {
      if (!(error instanceof Failed)) throw error;
      this.problem = error;
      return false;
    } finally {
      this.isBusy = false;
    }
  }

  /** The draft is a change of what is saved now. */
  keepMine(): Promise<boolean> {
    this.#rebase();
    return this.save();
  }

  takeTheirs(): void {
    const { conflict } = this;
    this.discard();
    if (conflict !== undefined) servers.put(conflict);
  }

  /** Goes on with a text that has both changes. */
  keepBoth(merged: string): void {
    this.#rebase();
    this.#entry = entryOf(merged) ?? this.entry;
    this.#typed = undefined;
  }

  #rebase(): void {
    if (this.conflict !== undefined) this.#base = toFileEntry(this.conflict);
    this.conflict = undefined;
  }

  /** False if the config has changed since it was read. Then the new revision is known, and the conflict if there is one. */
  async #put(isLast: boolean): Promise<boolean> {
    if (this.#etag !== undefined) {
      try {
        const path = pathTo`/servers/${this.name}`;
        const body = { name: this.name, ...this.entry };
        const { data, headers } = await api.request<Server>("PUT", path, body, { ifMatch: this.#etag });
        this.#etag = headers.get("etag") ?? undefined;
        servers.put({ ...data, tools: [], resources: [] });
        this.discard();
        return true;
      } catch (error) {
        if (!(error instanceof Failed) || error.kind !== "Conflict" || isLast) throw error;
      }
    }
    const { data, headers } = await this.#read();
    this.#etag = headers.get("etag") ?? undefined;
    if (toText(toFileEntry(data)) !== toText(this.base)) this.conflict = data;
    return false;
  }

  #read() {
    return api.request<Server>("GET", `${pathTo`/servers/${this.name}`}?view=summary`);
  }
}

export function toText(value: unknown): string {
  return JSON.stringify(value, null, 2) ?? "";
}

/** Undefined if the text is no entry. */
export function entryOf(written: string): Entry | undefined {
  try {
    const value: unknown = JSON.parse(written);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}

function syntaxErrorOf(written: string): { readonly line: number; readonly message: string } | undefined {
  if (entryOf(written) !== undefined) return undefined;
  try {
    parseJson(written);
    return { line: 1, message: text.notObject };
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error;
    return { line: lineAt(written, error.at), message: text.notJson(error.message) };
  }
}
