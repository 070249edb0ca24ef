// What can be done with the config of servers, in S4's shapes: the same for REST and for the admin endpoint.

import { SERVER_FILE } from "../../config/documents.ts";
import { normalizeServer } from "../../config/normalize.ts";
import type { JsonObject } from "../../config/plain.ts";
import { findRisks } from "../../config/risks.ts";
import type { EditOptions } from "../../config/store.ts";
import type { ServerConfig } from "../../config/types.ts";
import { HubError } from "../../errors.ts";
import type { ManagedServer } from "../../servers/server.ts";
import type { Managed } from "../core.ts";
import { toShown } from "../entry/entry.ts";
import { mergePatch } from "../entry/merge-patch.ts";
import { toJsonObject } from "../entry/object.ts";
import { restoreMasked } from "../entry/restore.ts";
import { othersOf, rewriteEntry } from "../entry/rewrite.ts";
import type { Server, TestResult } from "../schemas/server.ts";
import { toServer, toTestResult } from "../view.ts";

export class ServerCommands {
  readonly #managed: Managed;

  constructor(managed: Managed) {
    this.#managed = managed;
  }

  /** A summary has the numbers of tools and resources alone. */
  async list({ view = "full" }: { view?: "full" | "summary" } = {}): Promise<Server[]> {
    const all = this.#managed.hub.supervisor.servers.map((server) => this.#view(server));
    return view === "full" ? all : all.map((server) => ({ ...server, tools: [], resources: [] }));
  }

  /** By id or name, as everywhere. */
  async get(id: string): Promise<Server> {
    return this.show(this.#managed.hub.supervisor.get(id));
  }

  async show(server: ManagedServer): Promise<Server> {
    return this.#view(server);
  }

  async create(entry: unknown, options?: EditOptions): Promise<Server> {
    const given = restoreMasked(toJsonObject(entry), undefined);
    return this.show(await this.#managed.hub.configuration.createServer(given, options));
  }

  /** Replaces the entry. Its id, and members that are not the hub's, stay unless they are given. */
  async update(id: string, entry: unknown, options?: EditOptions): Promise<Server> {
    const { before, stored } = await this.#stored(id);
    if (before.invalid !== undefined)
      return this.#repair(before, { ...othersOf(stored), ...toJsonObject(entry) }, options);
    const kept = { ...othersOf(stored), ...(stored["id"] === undefined ? {} : { id: stored["id"] }) };
    return this.#save(before, stored, { ...kept, ...toJsonObject(entry) }, options);
  }

  /** RFC 7396, on the entry as it is shown. */
  async patch(id: string, patch: unknown, options?: EditOptions): Promise<Server> {
    const { before, stored } = await this.#stored(id);
    const wanted = toJsonObject(patch, "A patch");
    // Nobody can see what stands there, so what stands there is what is patched.
    if (before.invalid !== undefined) return this.#repair(before, toJsonObject(mergePatch(stored, wanted)), options);
    const target = toJsonObject({ ...othersOf(stored), ...toShown(before) });
    return this.#save(before, stored, toJsonObject(mergePatch(target, toShownSpelling(wanted))), options);
  }

  async delete(id: string, options?: EditOptions): Promise<void> {
    await this.#managed.hub.configuration.deleteServer(id, options);
  }

  /** Tries an entry that is not saved. One that names a saved server may refer to its secrets as `***`. */
  async test(entry: unknown): Promise<TestResult> {
    const given = toJsonObject(entry);
    const { supervisor } = this.#managed.hub;
    const known = supervisor.servers.find(({ name, config }) => name === given["name"] || config.id === given["id"]);
    const config = normalizeServer("test", restoreMasked(given, known?.config));
    requireNoNewRisks(config, known?.config);
    this.#managed.hub.configuration.requireDeclared(config, known?.config);
    return toTestResult(await supervisor.test(config));
  }

  async testSaved(id: string): Promise<TestResult> {
    const { supervisor } = this.#managed.hub;
    const { config } = supervisor.get(id);
    return toTestResult(await supervisor.test(config));
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
    const given = restoreMasked(masked, before);
    const after = normalizeServer(before.name, given);
    const entry = rewriteEntry({ stored, before, given, after });
    return this.show(await this.#managed.hub.configuration.updateServer(before.name, entry, options));
  }

  /** An entry in the place of one that could not be used. */
  async #repair(before: ServerConfig, entry: JsonObject, options: EditOptions | undefined): Promise<Server> {
    const { name = before.name, ...rest } = restoreMasked(entry, undefined);
    const isSpelledOut = name === before.writtenAs;
    const given = { ...rest, name: isSpelledOut ? before.name : name };
    return this.show(await this.#managed.hub.configuration.updateServer(before.name, given, options));
  }

  #view(server: ManagedServer): Server {
    const { catalog, configuration } = this.#managed.hub;
    const groups = catalog.groupNames.filter((group) => catalog.group(group).servers.includes(server.name));
    const times = configuration.timesOf(server.config.id);
    return toServer(server, { times, groups, warnings: configuration.warningsOf(server.config) });
  }
}

/** A patch is of the entry as it is shown, whose variables stand in `env`, whatever they are called in the patch. */
function toShownSpelling({ env_vars, envVars, ...patch }: JsonObject): JsonObject {
  const given = [env_vars, envVars].filter((variables) => variables !== undefined);
  const [first] = given;
  if (first === undefined) return patch;
  if (given.length > 1 || patch["env"] !== undefined) {
    throw new HubError("InvalidConfig", "A patch has its variables in one of env and env_vars", { field: "env_vars" });
  }
  // A list replaces all of them.
  return Array.isArray(first) ? { ...patch, env: null, env_vars: first } : { ...patch, env: first };
}

/** Trying is running: what may not be saved through the hub may not be tried either. */
function requireNoNewRisks(config: ServerConfig, known: ServerConfig | undefined): void {
  const accepted = known === undefined ? [] : findRisks(known).map(({ reason }) => reason);
  const added = findRisks(config).find(({ reason }) => !accepted.includes(reason));
  if (added === undefined) return;
  throw new HubError("InvalidConfig", `Not allowed here: ${added.reason}`, {
    field: added.field,
    hint: `If you mean it, write it into ${SERVER_FILE} by hand`,
  });
}
