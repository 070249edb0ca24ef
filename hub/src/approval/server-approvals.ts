// Which servers may run, and which of their tools are as they were approved. Decides from memory: the store is read at the start and
// after changes of other processes.

import type { Withheld } from "../catalog/listing.ts";
import type { PinPolicy, ServerConfig } from "../config/schema/types.ts";
import { HubError, toHubError } from "../errors.ts";
import type { JsonObject } from "../lib/json/json.ts";
import type { ApprovalStore, StoredApproval } from "./approval-store.ts";
import { byName, comparePins, Digests, pinAll, type Pins, type ToolState } from "./pins.ts";
import type { ApprovalRecord } from "./record.ts";
import { needsApproval, originOf, runDigest } from "./run.ts";

type Entry = Pick<ServerConfig, "name" | "source" | "invalid" | "transport" | "env" | "allowEnv" | "pins">;

export interface ServerApprovalsOptions {
  readonly store: ApprovalStore;
  /** Tools of a server are no longer as they were approved, or new. Each difference once. */
  readonly onToolChanges: (server: string, changes: ToolChanges) => void;
  /** Something is approved that was not, or the other way round. */
  readonly onChange: (servers: readonly string[]) => void;
  readonly onWarning: (message: string) => void;
  /** The wall clock, in milliseconds. */
  readonly now?: () => number;
}

export interface ToolChanges {
  readonly policy: PinPolicy;
  readonly changes: ReadonlyMap<string, ToolState>;
  /** The tools of now. */
  readonly tools: readonly JsonObject[];
}

/** How the tools of a server compare to what was approved. */
export interface Judgement {
  readonly policy: PinPolicy;
  /** Tools that are not as approved, by name. */
  readonly changes: ReadonlyMap<string, ToolState>;
  /** Why nothing that was approved is known. All tools are withheld then. */
  readonly damaged: string | undefined;
}

export interface Approving {
  /** Who approves. */
  readonly by: string;
  /** The tools of now; undefined if it has never been connected. */
  readonly tools: readonly JsonObject[] | undefined;
  /** Only these tools. Undefined: what is run, and all tools. */
  readonly names?: readonly string[] | undefined;
}

const NOTHING: ReadonlyMap<string, ToolState> = new Map();
/** Until what cannot be read is read again. */
const RETRY_MS = 1000;
/** Recorded as who approved the tools of an entry that was written by hand. */
const CONFIG = "config";
const UPGRADE = "upgrade";

type Kept = { readonly record: ApprovalRecord } | { readonly damaged: string };

interface Judged {
  readonly tools: readonly JsonObject[];
  readonly kept: Kept | undefined;
  readonly judgement: Judgement;
}

export class ServerApprovals {
  readonly #options: ServerApprovalsOptions;
  readonly #digests = new Digests();
  readonly #kept = new Map<string, Kept>();
  /** Of what is stored. */
  readonly #versions = new Map<string, string>();
  /** The last judgement of each server, for as long as nothing that it depends on is replaced. */
  readonly #judged = new Map<string, Judged>();
  /** Digests of the differences that were reported, by server. */
  readonly #reported = new Map<string, ReadonlySet<string>>();
  /** Why none could be read. */
  #unreadable: Kept | undefined;
  #isNew = false;
  /** One change of the store at a time. */
  #changing: Promise<unknown> = Promise.resolve();
  #stopWatching: (() => void) | undefined;
  #retry: NodeJS.Timeout | undefined;

  constructor(options: ServerApprovalsOptions) {
    this.#options = options;
  }

  /** ServerApprovals that cannot be read at all are those of no server: nothing counts as approved then. */
  async load(): Promise<void> {
    try {
      const { approvals, isNew } = await this.#options.store.load();
      this.#isNew = isNew;
      this.#take(approvals);
    } catch (error) {
      this.#unreadable = { damaged: `The approvals cannot be read (${toHubError(error).message})` };
      this.#options.onWarning(this.#unreadable.damaged);
    }
  }

  /** Follows what other processes approve. */
  async watch(): Promise<void> {
    this.#stopWatching = await this.#options.store.watch(() => this.#reloadInTurn());
  }

  #reloadInTurn(): void {
    void this.#inOrder(() => this.#reload());
  }

  /** Resolves when everything is on disk. */
  async close(): Promise<void> {
    this.#stopWatching?.();
    this.#stopWatching = undefined;
    clearTimeout(this.#retry);
    await this.#changing;
  }

  /** Servers that ran before there were approvals stay approved. */
  async adopt(servers: readonly ServerConfig[], hasRun: (server: ServerConfig) => Promise<boolean>): Promise<void> {
    if (!this.#isNew) return;
    for (const server of servers) {
      if (!needsApproval(server) || !(await hasRun(server))) continue;
      await this.#update(server.name, () => ({ run: { digest: runDigest(server), by: UPGRADE, at: this.#now() } }));
    }
  }

  /** Why a server may not run; undefined if it may. */
  refusal(server: Entry): HubError | undefined {
    if (!needsApproval(server)) return undefined;
    const kept = this.#of(server.name);
    const refuse = (detail: string) =>
      new HubError("ApprovalRequired", `Server "${server.name}" is not approved`, {
        detail,
        hint: `plugboard approve ${server.name}`,
      });
    if (kept !== undefined && "damaged" in kept) {
      return refuse(`${kept.damaged}, so that what was approved is not known`);
    }
    const run = kept?.record.run;
    if (run === undefined)
      return refuse(`It comes from ${originOf(server.source)}, and what it runs has not been approved`);
    return run.digest === runDigest(server) ? undefined : refuse("What it runs has changed since it was approved");
  }

  policyOf({ pins, source }: Pick<Entry, "pins" | "source">): PinPolicy {
    return pins ?? (source.type === "manual" ? "warn" : "block");
  }

  /** A server has listed its tools. The first tools of an approved server are pinned; later ones are compared. */
  listed(server: Entry, tools: readonly JsonObject[]): void {
    if (this.policyOf(server) === "off" || this.refusal(server) !== undefined) return;
    const kept = this.#of(server.name);
    if (kept !== undefined && "damaged" in kept) return;
    if (kept?.record.pins === undefined) return this.#pinFirst(server.name, kept?.record ?? {}, tools);
    this.#report(server.name, { ...this.judge(server, tools), tools });
  }

  /** The tools that must not be used; undefined if there are none. */
  withheld(server: Entry, tools: readonly JsonObject[]): Withheld | undefined {
    const { policy, changes, damaged } = this.judge(server, tools);
    if (damaged !== undefined) return new Map(tools.map(({ name }) => [String(name), "unknown"]));
    return policy === "block" && changes.size > 0 ? changes : undefined;
  }

  judge(server: Entry, tools: readonly JsonObject[]): Judgement {
    const policy = this.policyOf(server);
    const kept = this.#of(server.name);
    const known = this.#judged.get(server.name);
    if (known?.tools === tools && known.kept === kept && known.judgement.policy === policy) return known.judgement;
    const judgement = this.#judge(policy, kept, tools);
    this.#judged.set(server.name, { tools, kept, judgement });
    return judgement;
  }

  #judge(policy: PinPolicy, kept: Kept | undefined, tools: readonly JsonObject[]): Judgement {
    if (policy === "off" || kept === undefined) return { policy, changes: NOTHING, damaged: undefined };
    if ("damaged" in kept) return { policy, changes: NOTHING, damaged: kept.damaged };
    const { pins } = kept.record;
    const changes = pins === undefined ? NOTHING : comparePins(pins, tools, this.#digests);
    return { policy, changes, damaged: undefined };
  }

  /** What was approved; undefined if nothing was, or if that is not known. */
  recordOf(server: string): ApprovalRecord | undefined {
    return recordIn(this.#of(server));
  }

  /** Why what was approved is not known. */
  damageOf(server: string): string | undefined {
    const kept = this.#of(server);
    return kept !== undefined && "damaged" in kept ? kept.damaged : undefined;
  }

  #of(server: string): Kept | undefined {
    return this.#kept.get(server) ?? this.#unreadable;
  }

  /** Approves what a server would run now, with the tools that it has, or some of its tools. Resolves when that is on disk. */
  async approve(server: Entry, approving: Approving): Promise<void> {
    const { by, tools, names } = approving;
    await this.#update(server.name, (before = {}) => {
      if (names !== undefined) return { ...before, pins: this.#pinSome(server, before.pins, approving) };
      const run = needsApproval(server) ? { digest: runDigest(server), by, at: this.#now() } : undefined;
      const isSameRun = before.run?.digest === run?.digest;
      // What another program offers is pinned once it has listed it.
      const pins = isSameRun && tools !== undefined ? this.#pin(tools, by) : undefined;
      return { run: isSameRun ? before.run : run, pins };
    });
    this.#reported.delete(server.name);
    this.#options.onChange([server.name]);
  }

  #pinSome(server: Entry, before: Pins | undefined, { by, tools = [], names = [] }: Approving): Pins {
    const refusal = this.refusal(server);
    if (refusal !== undefined) throw refusal;
    const listed = byName(tools);
    const chosen = names.map((name) => {
      const definition = listed.get(name);
      if (definition !== undefined) return definition;
      throw new HubError("ToolNotFound", "Tool not found", {
        detail: `Server "${server.name}" has no tool ${JSON.stringify(name)}`,
        hint: `plugboard pins ${server.name}`,
      });
    });
    return new Map([...(before ?? []), ...this.#pin(chosen, by)]);
  }

  /** A server was removed from the config. */
  removed(server: string): void {
    this.#kept.delete(server);
    this.#inOrder(async () => {
      await this.#options.store.remove(server);
      for (const map of [this.#kept, this.#versions, this.#judged, this.#reported]) map.delete(server);
    }).catch((error: unknown) => this.#warn(server, error));
  }

  #pin(tools: readonly JsonObject[], by: string): Pins {
    return pinAll(tools, { by, at: this.#now(), digests: this.#digests });
  }

  /** In memory at once: what is listed next is compared already. */
  #pinFirst(server: string, record: ApprovalRecord, tools: readonly JsonObject[]): void {
    const pins = this.#pin(tools, record.run?.by ?? CONFIG);
    this.#kept.set(server, { record: { ...record, pins } });
    this.#update(server, (kept) => ({ ...kept, pins: kept?.pins ?? pins })).catch((error: unknown) =>
      this.#warn(server, error),
    );
  }

  #report(server: string, { policy, changes, tools }: ToolChanges): void {
    const listed = byName(tools);
    const current = new Map(
      [...changes].map(([name, state]) => [this.#digests.of(listed.get(name) ?? {}), [name, state] as const]),
    );
    const before = this.#reported.get(server);
    this.#reported.set(server, new Set(current.keys()));
    const fresh = [...current].flatMap(([digest, change]) => (before?.has(digest) === true ? [] : [change]));
    if (fresh.length > 0) this.#options.onToolChanges(server, { policy, tools, changes: new Map(fresh) });
  }

  /** Replaces the record of a server. Resolves when it is on disk, and takes effect then. */
  #update(server: string, change: (before: ApprovalRecord | undefined) => ApprovalRecord): Promise<void> {
    return this.#inOrder(async () => {
      const record = change(recordIn(this.#kept.get(server)));
      try {
        this.#versions.set(server, await this.#options.store.save(server, record, this.#versions.get(server)));
      } catch (error) {
        await this.#reload();
        throw error;
      }
      this.#kept.set(server, { record });
    });
  }

  /** What is known stays in force while it cannot be read again. */
  async #reload(): Promise<void> {
    clearTimeout(this.#retry);
    try {
      const { approvals } = await this.#options.store.load();
      this.#retry = undefined;
      this.#unreadable = undefined;
      const changed = this.#take(approvals);
      if (changed.length > 0) this.#options.onChange(changed);
    } catch (error) {
      const isFirst = this.#retry === undefined;
      if (isFirst)
        this.#options.onWarning(`The approvals of servers cannot be read again: ${toHubError(error).message}`);
      if (this.#stopWatching !== undefined) this.#retry = setTimeout(() => this.#reloadInTurn(), RETRY_MS).unref();
    }
  }

  /** The names of those that differ from what was known. */
  #take(approvals: ReadonlyMap<string, StoredApproval>): string[] {
    const names = new Set([...this.#kept.keys(), ...approvals.keys()]);
    const changed = [...names].filter((name) => this.#versions.get(name) !== approvals.get(name)?.version);
    for (const name of changed) {
      const stored = approvals.get(name);
      if (stored === undefined) {
        this.#kept.delete(name);
        this.#versions.delete(name);
      } else {
        this.#kept.set(name, stored.state === "kept" ? { record: stored.record } : { damaged: stored.reason });
        this.#versions.set(name, stored.version);
      }
    }
    return changed;
  }

  #inOrder<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#changing.then(work);
    this.#changing = done.catch(() => undefined); // the caller reports it
    return done;
  }

  #warn(server: string, error: unknown): void {
    this.#options.onWarning(`The approval of "${server}" cannot be saved: ${toHubError(error).message}`);
  }

  #now(): number {
    return (this.#options.now ?? Date.now)();
  }
}

function recordIn(kept: Kept | undefined): ApprovalRecord | undefined {
  return kept !== undefined && "record" in kept ? kept.record : undefined;
}
