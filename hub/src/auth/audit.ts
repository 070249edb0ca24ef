// Who did what. A row is written before its effect; rows are chained by hashes, so that a change of a written row can be found.

import { HubError, toHubError } from "../errors.ts";
import type { AuditCheck, AuditQuery, AuditRow, AuditStore } from "./audit-store.ts";
import type { Grant } from "./grant.ts";

/** Everything that is recorded. Also the values of `--what`. */
export const AUDIT_ACTIONS = [
  "auth.refused",
  "auth.sign_in_link",
  "auth.signed_in",
  "auth.signed_out",
  "client.added",
  "client.registered",
  "client.removed",
  "config.edit",
  "consent.given",
  "consent.revoked",
  "call.approve",
  "call.cancel",
  "call.deny",
  "calls.delete",
  "login.begin",
  "login.completed",
  "login.import",
  "login.removed",
  "secret.rotate_key",
  "secret.delete",
  "secret.set",
  "server.approve",
  "server.control",
  "session.end",
  "token.create",
  "token.revoke",
  "user.disable",
  "user.enable",
  "user.remove",
  "user.role",
] as const;
export type AuditAction = (typeof AUDIT_ACTIONS)[number];

/** Who does it: a grant, or less where there is none. */
export type AuditedBy = Pick<Grant, "principal"> & Partial<Pick<Grant, "role" | "kind" | "id" | "client">>;

export interface AuditEntry {
  readonly by: AuditedBy;
  readonly action: AuditAction;
  /** The name of what is acted on: a token, server, user. Never a secret. */
  readonly object?: string | undefined;
  /** Default: allowed. `failed` says that an action that was allowed had no effect. */
  readonly outcome?: AuditRow["outcome"] | undefined;
  readonly detail?: string | undefined;
  readonly address?: string | undefined;
  readonly requestId?: string | undefined;
}

export interface AuditLogOptions {
  readonly openStore: () => Promise<AuditStore>;
  /** Whether there is something to read. */
  readonly hasStore: () => boolean;
  /** The wall clock, in milliseconds. */
  readonly now?: () => number;
  readonly onWarning: (message: string) => void;
}

/** SHA-256 in base64url. */
const HEAD = /^[\w-]{43}$/;
const MINUTE_MS = 60_000;
/** More sources in a minute count as one. */
const MAX_SOURCES = 100;
const OTHERS = "others";
const MAX_TEXT = 300;

export class AuditLog {
  readonly #options: AuditLogOptions;
  readonly #now: () => number;
  /** Whose refusals are recorded already. */
  #refused = { minute: 0, sources: new Set<string>() };

  constructor(options: AuditLogOptions) {
    this.#options = options;
    this.#now = options.now ?? Date.now;
  }

  /** Resolves when the row is on disk. Rejects if it cannot be written: then the action must not happen. */
  async record({ by, action, object, outcome = "allowed", detail, address, requestId }: AuditEntry): Promise<void> {
    const at = this.#now();
    const store = await this.#options.openStore();
    await store.append({
      at,
      principal: by.principal,
      role: by.role,
      token: by.kind === "token" || by.kind === "issued" ? by.id : undefined,
      client: by.client,
      address,
      action,
      object: toText(object),
      outcome,
      detail: toText(detail),
      requestId,
    });
  }

  /** Records actions, then does them. If that fails, it is recorded, too. */
  async run<T>(entries: readonly AuditEntry[], effect: () => T | Promise<T>): Promise<T> {
    for (const entry of entries) await this.record(entry);
    try {
      return await effect();
    } catch (thrown) {
      const { kind: detail } = toHubError(thrown);
      for (const entry of entries) await this.record({ ...entry, outcome: "failed", detail }).catch(this.#warn);
      throw thrown;
    }
  }

  /** Wrong credentials, or too few rights. The first of each minute and source is recorded, whatever comes after. */
  refused(entry: Omit<AuditEntry, "action" | "outcome"> & { readonly address: string }): void {
    const minute = Math.floor(this.#now() / MINUTE_MS);
    if (this.#refused.minute !== minute) this.#refused = { minute, sources: new Set() };
    const { sources } = this.#refused;
    const address = sources.size < MAX_SOURCES ? entry.address : OTHERS;
    if (sources.has(address)) return;
    sources.add(address);
    void this.record({ ...entry, address, action: "auth.refused", outcome: "refused" }).catch(this.#warn);
  }

  /** Newest first. */
  async query(query: AuditQuery): Promise<readonly AuditRow[]> {
    if (!this.#options.hasStore()) return [];
    return (await this.#options.openStore()).query(query);
  }

  /** The hash of the newest row, to be kept elsewhere: a later log without it has lost rows, or was written anew. */
  async head(): Promise<string> {
    const [newest] = await this.query({ limit: 1 });
    return newest?.hash ?? "";
  }

  /** `noted`: a head that was kept elsewhere. */
  async verify(noted?: string): Promise<AuditCheck> {
    if (noted !== undefined && !HEAD.test(noted)) {
      throw new HubError("InvalidArgument", "A head has 43 letters, digits, - and _", {
        field: "head",
        hint: "Use one that `plugboard audit` has printed",
      });
    }
    if (!this.#options.hasStore()) return { rows: 0, head: "", fault: undefined, noted: undefined };
    return (await this.#options.openStore()).verify(noted);
  }

  readonly #warn = (error: unknown): void => {
    this.#options.onWarning(`The audit log cannot be written: ${toHubError(error).message}`);
  };
}

/** The hash is of what is stored, and databases do not store every text. */
function toText(given: string | undefined): string | undefined {
  // UTF-8 has no halves of characters.
  return given === undefined ? undefined : Buffer.from(given.slice(0, MAX_TEXT)).toString().replaceAll("\0", "\uFFFD");
}

/** An action, or the part before its dot. */
export function auditActionOf(text: string): string {
  if (AUDIT_ACTIONS.some((action) => action === text || action.startsWith(`${text}.`))) return text;
  throw new HubError("InvalidArgument", `There is no action ${JSON.stringify(text)}`, {
    field: "what",
    hint: `Use one of ${AUDIT_ACTIONS.join(", ")}, or the part before the dot`,
  });
}
