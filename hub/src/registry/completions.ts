// Completes entries that name only their source: from what their registry said, which is kept for the time without it. A registry is
// asked in the background, so that it holds up neither the start of the hub nor a change of the config.

import { normalizeServer } from "../config/parse/normalize.ts";
import { isSourceOnly, registryOf, toSource } from "../config/parse/source.ts";
import { parseWith, sourceEntry } from "../config/schema/schema.ts";
import type { ServerConfig } from "../config/schema/types.ts";
import { HubError, toHubError } from "../errors.ts";
import type { KeptText } from "../lib/files/kept-text.ts";
import { isObject, type JsonObject } from "../lib/json/json.ts";
import { chooseDraft, completeDraft, draftsOf } from "./draft/draft.ts";
import type { GivenValue } from "./draft/values.ts";
import type { OfferKind, ServerRecord } from "./model.ts";
import type { Registries } from "./registries.ts";

export interface CompletionsOptions {
  /** What registries said about the servers of entries; undefined: only in memory. */
  readonly kept: KeptText | undefined;
  readonly runnable: ReadonlySet<OfferKind>;
}

interface Connected {
  readonly registries: Pick<Registries, "get">;
  /** Another completion is known, or the reason why there is none has changed. */
  readonly onChange: () => void;
}

interface Place {
  readonly registry: string;
  readonly name: string;
  readonly version?: string;
}

const RETRY_MS = 60_000;
const RECORDS_MAX = 500;

export class Completions {
  readonly #options: CompletionsOptions;
  readonly #records = new Map<string, ServerRecord>();
  /** Why a registry has not said anything, by place. */
  readonly #failures = new Map<string, HubError>();
  readonly #wanted = new Map<string, Place>();
  readonly #asking = new Map<string, Promise<void>>();
  readonly #ended = new AbortController();
  #isRunning = false;
  #connected: Connected | undefined;
  #retry: NodeJS.Timeout | undefined;
  #saved: Promise<unknown> = Promise.resolve();

  private constructor(options: CompletionsOptions) {
    this.#options = options;
  }

  /** With what was kept. */
  static async open(options: CompletionsOptions): Promise<Completions> {
    const completions = new Completions(options);
    const text = await options.kept?.read();
    try {
      const json: unknown = JSON.parse(text ?? "{}");
      for (const [key, record] of Object.entries(isObject(json) ? json : {})) {
        if (isRecord(record)) completions.#records.set(key, record);
      }
    } catch {
      // Damaged: the registries are asked again.
    }
    return completions;
  }

  connect(connected: Connected): void {
    this.#connected = connected;
  }

  /** From now on, registries are asked for what entries need. */
  run(): void {
    this.#isRunning = true;
    for (const place of this.#wanted.values()) void this.#ask(place);
  }

  async close(): Promise<void> {
    this.#isRunning = false;
    clearTimeout(this.#retry);
    this.#ended.abort();
    await Promise.all(this.#asking.values());
    await this.#saved;
  }

  /** A server of the config, complete, or with the reason why it is not. */
  complete(server: ServerConfig): ServerConfig {
    const { incomplete, name, writtenAs } = server;
    if (incomplete === undefined) return server;
    try {
      const whole = normalizeServer(undefined, { ...this.#fromKnown(incomplete), name });
      return writtenAs === undefined ? whole : { ...whole, writtenAs };
    } catch (thrown) {
      return { ...server, invalid: toHubError(thrown).toJSON() };
    }
  }

  /** An entry that is to be saved, complete. Asks the registry if it has not been asked yet. */
  async completed(entry: unknown): Promise<unknown> {
    if (!isObject(entry) || !isSourceOnly(entry)) return entry;
    const place = placeOf(entry);
    if (!this.#records.has(keyOf(place))) await this.#ask(place);
    return this.#fromKnown(entry);
  }

  #fromKnown(entry: JsonObject): JsonObject {
    const place = placeOf(entry);
    const record = this.#records.get(keyOf(place));
    if (record !== undefined) return completedEntry(entry, record, place.registry, this.#options.runnable);
    this.#wanted.set(keyOf(place), place);
    if (this.#isRunning && !this.#failures.has(keyOf(place))) void this.#ask(place);
    throw this.#failures.get(keyOf(place)) ?? notAsked(place);
  }

  /** Never rejects: a failure is the reason of the entries that need it. */
  #ask(place: Place): Promise<void> {
    const key = keyOf(place);
    const asking = this.#asking.get(key) ?? this.#askNow(place).finally(() => this.#asking.delete(key));
    this.#asking.set(key, asking);
    return asking;
  }

  async #askNow(place: Place): Promise<void> {
    const { registry, name, version } = place;
    const key = keyOf(place);
    const before = this.#failures.get(key);
    const connected = this.#connected;
    if (connected === undefined) return;
    try {
      const found = await connected.registries.get(name, { registry, version, signal: this.#ended.signal });
      this.#records.set(key, found.record);
      this.#failures.delete(key);
      this.#wanted.delete(key);
      this.#save();
    } catch (thrown) {
      if (this.#ended.signal.aborted) return;
      const error = toHubError(thrown);
      this.#failures.set(key, asReason(place, error));
      this.#retryLater();
      if (before?.message === this.#failures.get(key)?.message) return;
    }
    connected.onChange();
  }

  #retryLater(): void {
    if (!this.#isRunning) return;
    clearTimeout(this.#retry);
    this.#retry = setTimeout(() => {
      for (const place of this.#wanted.values()) void this.#ask(place);
    }, RETRY_MS).unref();
  }

  #save(): void {
    const { kept } = this.#options;
    if (kept === undefined) return;
    const newest = [...this.#records].slice(-RECORDS_MAX);
    // It is asked for again.
    this.#saved = this.#saved.then(() => kept.write(JSON.stringify(Object.fromEntries(newest)))).catch(() => undefined);
  }
}

function completedEntry(
  entry: JsonObject,
  record: ServerRecord,
  registry: string,
  runnable: ReadonlySet<OfferKind>,
): JsonObject {
  const { env, env_vars, envVars, headers, ...rest } = entry;
  const given: Record<string, unknown> = {
    ...(isObject(headers) ? headers : {}),
    ...[env, env_vars, envVars].reduce<JsonObject>((all, each) => ({ ...all, ...asMap(each) }), {}),
  };
  const { offer } = chooseDraft(record, draftsOf(record, registry, runnable), undefined);
  const used = new Set<string>();
  const values: Record<string, GivenValue> = {};
  for (const input of offer.inputs) {
    const key = Object.keys(given).find((each) => each === input.name || each === toVariable(input.name));
    const value = key === undefined ? undefined : toValue(given[key]);
    if (key === undefined || value === undefined) continue;
    used.add(key);
    values[input.name] = value;
  }
  const filled = completeDraft({ record, registry, offer, name: "server", values, secretName: String });
  const variables: Record<string, unknown> = { ...(isObject(filled.entry["env"]) ? filled.entry["env"] : {}) };
  // A secret that stands in the file stays there: storing it would change what its author wrote.
  for (const [variable, value] of Object.entries(variables)) {
    const stored = isObject(value) ? value["secretRef"] : undefined;
    const literal = typeof stored === "string" ? filled.secrets.get(stored) : undefined;
    if (literal !== undefined) variables[variable] = { value: literal, isSecret: true };
  }
  for (const [key, value] of Object.entries(given)) {
    if (!used.has(key) && !(isObject(headers) && Object.hasOwn(headers, key))) variables[key] = value;
  }
  const ownHeaders = Object.entries(isObject(headers) ? headers : {}).filter(([key]) => !used.has(key));
  const allHeaders = {
    ...(isObject(filled.entry["headers"]) ? filled.entry["headers"] : {}),
    ...Object.fromEntries(ownHeaders),
  };
  const { name: _, ...whole } = filled.entry;
  return {
    ...whole,
    ...rest,
    ...(Object.keys(variables).length === 0 ? {} : { env: variables }),
    ...(Object.keys(allHeaders).length === 0 ? {} : { headers: allHeaders }),
  };
}

/** Variables as a map, which may be a list of objects with names. */
function asMap(variables: unknown): JsonObject {
  if (isObject(variables)) return variables;
  if (!Array.isArray(variables)) return {};
  return Object.fromEntries(
    variables.flatMap((each: unknown) =>
      isObject(each) && typeof each["name"] === "string" ? [[each["name"], each] as const] : [],
    ),
  );
}

function toValue(given: unknown): GivenValue | undefined {
  if (typeof given === "string") return given;
  if (typeof given === "number" || typeof given === "boolean") return String(given);
  if (!isObject(given)) return undefined;
  const secretRef = given["secret_ref"] ?? given["secretRef"];
  if (typeof secretRef === "string") return { secretRef };
  return typeof given["value"] === "string" ? given["value"] : undefined;
}

function toVariable(input: string): string {
  return input.toUpperCase().replaceAll(/[^A-Z0-9_]+/g, "_");
}

function placeOf(entry: JsonObject): Place {
  const place = registryOf(toSource(parseWith(sourceEntry, entry["source"])));
  if (place !== undefined) return place;
  throw new HubError("InvalidConfig", "The entry has no source in a registry", { field: "source" });
}

function keyOf({ registry, name, version }: Place): string {
  return JSON.stringify([registry, name, version ?? null]);
}

function notAsked({ registry, name }: Place): HubError {
  return new HubError("ConnectionFailed", `${registry} has not yet said what ${name} runs`, {
    field: "source",
    hint: "A running hub asks the registry: plugboard start",
  });
}

function asReason({ registry, name }: Place, error: HubError): HubError {
  const isAbsent = error.kind === "ServerNotFound";
  const message = isAbsent ? error.message : `${name} cannot be completed: ${registry}: ${error.message}`;
  return new HubError(isAbsent ? "InvalidConfig" : error.kind, message, {
    field: "source",
    ...(isAbsent ? {} : { hint: "It is tried again every minute" }),
  });
}

/** Of a file that only this class writes. */
function isRecord(value: unknown): value is ServerRecord {
  return (
    isObject(value) &&
    typeof value["name"] === "string" &&
    Array.isArray(value["offers"]) &&
    Array.isArray(value["unusable"])
  );
}
