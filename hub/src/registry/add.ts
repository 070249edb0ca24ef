// Adds a server of a registry to the config. Everything is checked before anything is saved; if the save fails, no secret stays.

import { lookup as systemLookup } from "node:dns";
import { isIP, type LookupFunction } from "node:net";
import type { JsonObject } from "../config/parse/plain-object.ts";
import { HubError } from "../errors.ts";
import { addressClass } from "../oauth/fetch/address-class.ts";
import { bareHost } from "../oauth/fetch/safe-url.ts";
import { chooseDraft, completeDraft, entryName } from "./draft/draft.ts";
import type { GivenValues } from "./draft/values.ts";
import type { OfferKind } from "./model.ts";
import type { FoundRecord } from "./registries.ts";

export interface AddInput {
  /** Of the entry. Default: from the name in the registry. */
  readonly name?: string | undefined;
  readonly package?: OfferKind | undefined;
  readonly values?: GivenValues | undefined;
  /** Further members of the entry, such as `enabled` and `groups`. */
  readonly settings?: JsonObject | undefined;
}

/** Where the entry and its secrets go. */
export interface AddTarget<T> {
  /** Names and ids of all servers. */
  readonly taken: readonly string[];
  readonly secrets: {
    list(): Promise<string[]>;
    set(name: string, value: string): Promise<unknown>;
    delete(name: string): Promise<unknown>;
  };
  createServer(entry: JsonObject): Promise<T>;
  readonly lookup?: LookupFunction | undefined;
}

export interface Added<T> {
  readonly server: T;
  readonly entry: JsonObject;
  readonly warnings: readonly string[];
  /** Names of the secrets that were stored. */
  readonly secrets: readonly string[];
}

export async function addFromRegistry<T>(
  target: AddTarget<T>,
  found: FoundRecord,
  { package: kind, values = {}, settings = {}, name: given }: AddInput,
): Promise<Added<T>> {
  const { record, registry } = found;
  const draft = chooseDraft(record, found, kind);
  const name = given ?? entryName(record);
  if (target.taken.includes(name)) {
    throw new HubError("ServerAlreadyExists", `A server named "${name}" already exists`, {
      field: "name",
      hint: "Choose another name",
    });
  }
  const stored = new Set(await target.secrets.list());
  const filled = completeDraft({
    record,
    registry,
    offer: draft.offer,
    name,
    values,
    secretName: (variable) => unused(`${name}-${variable}`, stored),
  });
  const { entry, secrets } = { entry: { ...filled.entry, ...settings }, secrets: filled.secrets };
  if (draft.kind === "remote") await requirePublicHost(entry["url"], target.lookup);
  const set: string[] = [];
  try {
    for (const [secret, value] of secrets) {
      await target.secrets.set(secret, value);
      set.push(secret);
    }
    const server = await target.createServer(entry);
    return { server, entry, warnings: draft.warnings, secrets: set };
  } catch (thrown) {
    for (const secret of set) await target.secrets.delete(secret);
    throw thrown;
  }
}

function unused(name: string, taken: ReadonlySet<string>): string {
  if (!taken.has(name)) return name;
  for (let n = 2; ; n++) if (!taken.has(`${name}-${n}`)) return `${name}-${n}`;
}

/** A public name may lead into the network of the hub (T32). Without a DNS answer, nothing is known against it. */
async function requirePublicHost(address: unknown, lookup: LookupFunction = systemLookup): Promise<void> {
  if (typeof address !== "string") return;
  const host = bareHost(new URL(address.replaceAll(/\$\{[A-Za-z0-9_]+\}/g, "secret")).hostname);
  if (isIP(host) !== 0) return;
  const addresses = await new Promise<string[]>((resolve) => {
    lookup(host, { all: true }, (error, found) => {
      if (error !== null) resolve([]);
      else resolve(typeof found === "string" ? [found] : found.map((each) => each.address));
    });
  });
  const inside = addresses.find((each) => addressClass(each) !== "public");
  if (inside === undefined) return;
  throw new HubError("UnsafeAddress", `${host} leads to ${inside}, which is not a public address`, {
    field: "url",
    hint: `If that is right, add it by its address: plugboard add ${address}`,
  });
}
