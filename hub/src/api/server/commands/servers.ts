// Commands on server entries, shared by REST and the admin endpoint.

import { TokenCounts } from "../../../catalog/tokens.ts";
import { canonicalAuth } from "../../../config/parse/auth.ts";
import { SERVER_FILE } from "../../../config/parse/documents.ts";
import { normalizeServer } from "../../../config/parse/normalize.ts";
import type { JsonObject } from "../../../config/parse/plain-object.ts";
import { findRisks } from "../../../config/parse/risks.ts";
import type { EditOptions } from "../../../config/files/config-store.ts";
import type { ServerConfig } from "../../../config/schema/types.ts";
import { HubError } from "../../../errors.ts";
import { withFixForUnsaved } from "../../../servers/resilience/auth-errors.ts";
import type { ManagedServer } from "../../../servers/server.ts";
import type { TestOptions } from "../../../servers/supervisor.ts";
import type { Managed } from "../core.ts";
import { toShown } from "../entry/entry.ts";
import { KnownSecrets } from "../entry/known-secrets.ts";
import { mergePatch } from "../entry/merge-patch.ts";
import { toJsonObject } from "../entry/object.ts";
import { restoreMasked } from "../entry/restore.ts";
import { othersOf, rewriteEntry } from "../entry/rewrite.ts";
import type { Server, TestResult } from "../../schemas/server.ts";
import type { Figures24h, RecentCalls } from "../recent-calls.ts";
import { toolsOf } from "../tool-marks.ts";
import { toServer, toTestResult } from "../view.ts";
import { summarize } from "./server-approvals.ts";
import { loginOf, loginsAt } from "./logins.ts";

export interface ServerCommandsOptions {
  /** Without them, servers are shown without the calls of the last 24 hours. */
  readonly recentCalls?: RecentCalls;
  readonly tokens?: TokenCounts;
}

export class ServerCommands {
  readonly #managed: Managed;
  readonly #recentCalls: RecentCalls | undefined;
  readonly #tokens: TokenCounts;

  constructor(managed: Managed, { recentCalls, tokens = new TokenCounts() }: ServerCommandsOptions = {}) {
    this.#managed = managed;
    this.#recentCalls = recentCalls;
    this.#tokens = tokens;
  }

  /** A summary has only the numbers of tools and resources. */
  async list({ view = "full" }: View = {}): Promise<Server[]> {
    const [secrets, recent] = await Promise.all([this.#secrets(), this.#recentCalls?.byServer()]);
    const { servers } = this.#managed.hub.supervisor;
    return Promise.all(servers.map((server) => this.#view(server, { secrets, recent, view })));
  }

  /** By id or name. */
  async get(id: string, { view = "full" }: View = {}): Promise<Server> {
    return this.show(this.#managed.hub.supervisor.get(id), { view });
  }

  async show(server: ManagedServer, { view = "full" }: View = {}): Promise<Server> {
    const [secrets, recent] = await Promise.all([this.#secrets(), this.#recentCalls?.byServer()]);
    return this.#view(server, { secrets, recent, view });
  }

  async create(entry: unknown, options?: EditOptions): Promise<Server> {
    const given = restoreMasked(toJsonObject(entry), undefined);
    return this.show(await this.#managed.hub.configuration.createServer(given, options));
  }

  /** Replaces the entry. Its id, and members that the hub does not know, stay unless they are given. */
  async update(id: string, entry: unknown, options?: EditOptions): Promise<Server> {
    const { before, stored } = await this.#stored(id);
    if (before.invalid !== undefined)
      return this.#repair(before, { ...othersOf(stored), ...toJsonObject(entry) }, options);
    const unchanged = { ...othersOf(stored), ...(stored["id"] === undefined ? {} : { id: stored["id"] }) };
    return this.#save(before, stored, { ...unchanged, ...toJsonObject(entry) }, options);
  }

  /** JSON Merge Patch (RFC 7396) of the entry as shown. */
  async patch(id: string, patch: unknown, options?: EditOptions): Promise<Server> {
    const { before, stored } = await this.#stored(id);
    const given = toJsonObject(patch, "A patch");
    // An invalid entry has no shown form: the patch applies to the text in the file.
    if (before.invalid !== undefined) return this.#repair(before, toJsonObject(mergePatch(stored, given)), options);
    const target = toJsonObject({ ...othersOf(stored), ...toShown(before, await this.#secrets()) });
    return this.#save(before, stored, toJsonObject(mergePatch(target, toShownSpelling(given))), options);
  }

  /** With its login. */
  async delete(id: string, options?: EditOptions): Promise<void> {
    const { supervisor, configuration, logins } = this.#managed.hub;
    const { config } = supervisor.get(id);
    await configuration.deleteServer(id, options);
    await logins.forget(config);
  }

  /** Tests an entry without saving it. If it names a saved server, `***` means the secrets of that server. */
  async test(entry: unknown, options?: TestOptions): Promise<TestResult> {
    const given = toJsonObject(entry);
    const { supervisor } = this.#managed.hub;
    const known = supervisor.servers.find(({ name, config }) => name === given["name"] || config.id === given["id"]);
    const config = normalizeServer("test", restoreMasked(given, known?.config, await this.#secrets()));
    requireNoNewRisks(config, known?.config);
    this.#managed.hub.configuration.requireDeclared(config, known?.config);
    const outcome = await supervisor.test(config, options);
    if (outcome.error === undefined) return toTestResult(outcome);
    const error = withFixForUnsaved(outcome.error, config, given);
    return toTestResult({ ...outcome, message: error.message, error });
  }

  async testSaved(id: string, options?: TestOptions): Promise<TestResult> {
    const { supervisor, serverApprovals } = this.#managed.hub;
    const { config } = supervisor.get(id);
    const refusal = serverApprovals.refusal(config);
    if (refusal !== undefined) throw refusal;
    return toTestResult(await supervisor.test(config, options));
  }

  async #stored(id: string): Promise<{ before: ServerConfig; stored: JsonObject }> {
    const { supervisor, configuration } = this.#managed.hub;
    const { config } = supervisor.get(id);
    return { before: config, stored: toJsonObject(await configuration.readEntry(config.name)) };
  }

  async #save(
    before: ServerConfig,
    stored: JsonObject,
    masked: JsonObject,
    options: EditOptions | undefined,
  ): Promise<Server> {
    const given = restoreMasked(masked, before, await this.#secrets());
    const after = normalizeServer(before.name, given);
    const entry = rewriteEntry({ stored, before, given, after });
    return this.show(await this.#managed.hub.configuration.updateServer(before.name, entry, options));
  }

  /** Replaces an invalid entry. */
  async #repair(before: ServerConfig, entry: JsonObject, options: EditOptions | undefined): Promise<Server> {
    const { name = before.name, ...rest } = restoreMasked(entry, undefined);
    const isSpelledOut = name === before.writtenAs;
    const given = { ...rest, name: isSpelledOut ? before.name : name };
    return this.show(await this.#managed.hub.configuration.updateServer(before.name, given, options));
  }

  #secrets(): Promise<KnownSecrets> {
    return KnownSecrets.of(this.#managed.hub.secrets);
  }

  async #view(server: ManagedServer, { secrets, recent, view }: Shown): Promise<Server> {
    const login = await loginOf(this.#managed.hub, server.config);
    const logins = server.config.auth?.per === "user" ? await loginsAt(this.#managed.hub, server.config) : [];
    const { catalog, configuration } = this.#managed.hub;
    const groups = catalog.groupNames.filter((group) => catalog.group(group).servers.includes(server.name));
    const times = configuration.timesOf(server.config.id);
    const { toolOf, warnings: changes } = toolsOf(this.#managed.hub, server);
    const shown = toServer(server, {
      times,
      groups,
      warnings: [...configuration.warningsOf(server.config), ...changes],
      toolOf,
      approval: summarize(this.#managed.hub.serverApprovals, server),
      login,
      logins,
      secrets,
      tokens: this.#tokens,
      recent: recent?.get(server.name) ?? null,
    });
    return view === "full" ? shown : { ...shown, tools: [], resources: [] };
  }
}

interface View {
  readonly view?: "full" | "summary";
}

interface Shown extends Required<View> {
  readonly secrets: KnownSecrets;
  readonly recent: ReadonlyMap<string, Figures24h> | undefined;
}

/** A patch applies to the entry as shown, which has its variables in `env` and `auth` in snake_case. */
function toShownSpelling({ env_vars, envVars, ...given }: JsonObject): JsonObject {
  const patch = given["auth"] === undefined ? given : { ...given, auth: canonicalAuth(given["auth"]) };
  const variables = [env_vars, envVars].filter((each) => each !== undefined);
  const [first] = variables;
  if (first === undefined) return patch;
  if (variables.length > 1 || patch["env"] !== undefined) {
    throw new HubError("InvalidArgument", "Give the variables of a patch either in env or in env_vars", {
      field: "env_vars",
    });
  }
  // A list replaces all variables.
  return Array.isArray(first) ? { ...patch, env: null, env_vars: first } : { ...patch, env: first };
}

/** A test runs the command, so that the same risks are refused as for saving. */
function requireNoNewRisks(config: ServerConfig, known: ServerConfig | undefined): void {
  const accepted = known === undefined ? [] : findRisks(known).map(({ reason }) => reason);
  const added = findRisks(config).find(({ reason }) => !accepted.includes(reason));
  if (added === undefined) return;
  throw new HubError("InvalidConfig", `Not allowed here: ${added.reason}`, {
    field: added.field,
    hint: `If you want it, edit ${SERVER_FILE} by hand`,
  });
}
