// One server that is about to be added: what the person has decided, its test, and what is wrong.

import type { Secret } from "$api/config.ts";
import type { ParsedEntry } from "$api/parse.ts";
import type { Server, TestResult } from "$api/server.ts";
import { api, Problem as Failed } from "../../lib/hub/api.ts";
import { draftOf, secretsOf, toSavedEntry, toTestEntry, type Draft } from "../../lib/servers/add-draft.ts";
import { pathTo } from "../../lib/route.ts";
import { servers } from "../../state/servers.svelte.ts";
import { StartStream } from "../../state/start-stream.svelte.ts";
import { addText as text } from "../../text/add.ts";

/** The server answers, and a person can log in once it is added. */
const LOGIN_ERRORS = new Set(["LoginRequired", "LoginExpired", "ScopeRequired"]);

interface Mark {
  readonly field: string;
  readonly message: string;
}

export class NewServer {
  readonly parsed: ParsedEntry;
  readonly test = new StartStream<TestResult>();
  draft: Draft = $state.raw()!;
  problem: Failed | undefined = $state.raw();
  /** The draft that the test and the problem are about. */
  #about: Draft | undefined = $state.raw();

  constructor(parsed: ParsedEntry, { isOnly }: { readonly isOnly: boolean }) {
    this.parsed = parsed;
    const draft = draftOf(parsed);
    // One of several can be ticked; the only one is what the person came for, even if the hub has the same already.
    this.draft = isOnly ? { ...draft, isTaken: true } : draft;
  }

  /** The field that the last failure names, until something is changed. */
  readonly mark: Mark | undefined = $derived.by(() => {
    if (this.#about !== this.draft) return undefined;
    const { result, problem } = this.test;
    const error = this.problem ?? problem ?? (result?.success === false ? result.error : undefined);
    return error?.field === undefined ? undefined : { field: error.field, message: error.message };
  });

  /** The test of this very draft has succeeded, or a login is all that is missing. */
  get #isTested(): boolean {
    const { result } = this.test;
    if (this.#about !== this.draft || result === undefined) return false;
    return result.success || LOGIN_ERRORS.has(result.error?.kind ?? "");
  }

  async runTest(): Promise<boolean> {
    this.#about = this.draft;
    this.problem = undefined;
    await this.test.run("/servers/test", toTestEntry(this.draft));
    return this.#isTested;
  }

  /** Adds the server; undefined if that fails, and nothing is stored then. */
  async add({ isTested }: { readonly isTested: boolean }): Promise<Server | undefined> {
    const { draft } = this;
    const entry = toSavedEntry(draft);
    this.problem = undefined;
    await servers.load();
    if (servers.find(draft.name) !== undefined) return this.#fail(nameTaken(draft.name));
    // A server that is added as disabled is not to run, not even for a test.
    const needsTest = isTested && entry["enabled"] !== false && !this.#isTested;
    if (needsTest && !(await this.runTest())) return undefined;
    try {
      return await this.#save(draft, entry);
    } catch (error) {
      if (!(error instanceof Failed)) throw error;
      return this.#fail(error);
    }
  }

  async #save(draft: Draft, entry: Record<string, unknown>): Promise<Server> {
    const secrets = secretsOf(draft);
    const stored = secrets.length === 0 ? [] : await api.get<Secret[]>("/secrets");
    const made: string[] = [];
    try {
      for (const { name, value } of secrets) {
        const known = stored.find((each) => each.name === name);
        // A value that another server uses is not replaced.
        const isUsed = known !== undefined && known.used_by.length > 0;
        // oxlint-disable-next-line no-await-in-loop -- the first that fails ends it
        await api.put(pathTo`/secrets/${name}`, { value, ...(isUsed ? { unless_different: true } : {}) });
        if (known === undefined) made.push(name);
      }
      const headers = { "idempotency-key": crypto.randomUUID() };
      const created = await api.post<Server>("/servers", entry, { headers });
      servers.put({ ...created, tools: [], resources: [] });
      return created;
    } catch (error) {
      await Promise.allSettled(made.map((name) => api.del(pathTo`/secrets/${name}`)));
      throw error;
    }
  }

  #fail(problem: Failed): undefined {
    this.#about = this.draft;
    this.problem = problem;
  }
}

function nameTaken(name: string): Failed {
  return new Failed({ status: 409, code: "CONFLICT", kind: "Conflict", message: text.nameTaken(name), field: "name" });
}
