// A server.json of any schema from 2025-07-09 on, as its author wrote it, or as a registry answers with it.

import { HubError } from "../../errors.ts";
import { isExactVersion } from "../../config/parse/source.ts";
import { toPlainJson } from "../../config/parse/plain-object.ts";
import { isObject, type JsonObject } from "../../lib/json/json.ts";
import type { Offer, ServerRecord, ServerState, Unusable } from "../model.ts";
import { listOf, member, requireObject, shownLine, textOf, unusable } from "./fields.ts";
import { kindNameOf, nameOf, readPackage } from "./package.ts";
import { readRemote } from "./remote.ts";
import { TEMPLATE } from "./versions.ts";

const OFFERS_MAX = 50;
const NAME_MAX = 256;
const OFFICIAL_META = "io.modelcontextprotocol.registry/official";

/** Throws InvalidConfig with the reason if the document does not describe a server at all. */
export function readServerJson(document: unknown): ServerRecord {
  const outer = requireObject(toPlainJson(requireObject(document, "server.json")), "server.json");
  const { server, meta } = unwrap(outer);
  const name = textOf(server, "name");
  if (name === undefined) throw unusable(reasonWithoutName(server));
  requireName(name);
  const version = versionOf(server);
  const offers: Offer[] = [];
  const rejected: Unusable[] = [];
  const attempt = (kind: string, identifier: string, read: () => Offer) => {
    try {
      offers.push(read());
    } catch (thrown) {
      if (!(thrown instanceof HubError)) throw thrown;
      rejected.push({ kind, identifier: shownLine(identifier, 200) ?? "", reason: thrown.message });
    }
  };
  const packages = listOf(server, "packages", OFFERS_MAX);
  packages.forEach((given, index) => {
    const json = isObject(given) ? given : {};
    attempt(kindNameOf(json) || "package", nameOf(json), () =>
      readPackage(requireObject(given, `packages[${index}]`), version, server),
    );
  });
  const remotes = listOf(server, "remotes", OFFERS_MAX);
  remotes.forEach((given, index) => {
    const url = isObject(given) ? (textOf(given, "url") ?? "") : "";
    attempt("remote", url, () => readRemote(requireObject(given, `remotes[${index}]`)));
  });
  if (packages.length + remotes.length === 0) {
    rejected.push({ kind: "none", identifier: "", reason: "It names neither packages nor addresses" });
  }
  const kinds = [
    ...packages.map((given) => (isObject(given) ? kindNameOf(given) : "")),
    ...(remotes.length === 0 ? [] : ["remote"]),
  ];
  const repository = member(server, "repository");
  return {
    name,
    ...text("version", version, 255),
    ...text("title", textOf(server, "title"), 100),
    ...text("description", textOf(server, "description"), 1000),
    state: stateOf(meta, server),
    ...text("website", httpsOnly(textOf(server, "websiteUrl")), 2048),
    ...text("repository", httpsOnly(isObject(repository) ? textOf(repository, "url") : undefined), 2048),
    ...text("updatedAt", textOf(meta, "updatedAt", "publishedAt"), 40),
    kinds: [...new Set(kinds.filter((kind) => kind !== ""))],
    offers,
    unusable: rejected,
  };
}

/** Registries wrap the file: `{"server": {…}, "_meta": {…}}`; earlier ones put `_meta` into it. */
function unwrap(outer: JsonObject): { server: JsonObject; meta: JsonObject } {
  const inner = member(outer, "server");
  const server = isObject(inner) && textOf(outer, "name") === undefined ? inner : outer;
  const metas = [outer["_meta"], server["_meta"]].filter(isObject);
  const meta = metas.map((each) => each[OFFICIAL_META]).find(isObject);
  return { server, meta: meta ?? {} };
}

function stateOf(meta: JsonObject, server: JsonObject): ServerState {
  const state = textOf(meta, "status") ?? textOf(server, "status");
  return state === "deprecated" || state === "deleted" ? state : "active";
}

function versionOf(server: JsonObject): string | undefined {
  const detail = member(server, "versionDetail");
  const version = textOf(server, "version") ?? (isObject(detail) ? textOf(detail, "version") : undefined);
  // Neither a placeholder nor "latest" is a version.
  return version !== undefined && !TEMPLATE.test(version) && isExactVersion(version) ? version : undefined;
}

function requireName(name: string): void {
  if (name.length > NAME_MAX) throw unusable(`The name of the server is longer than ${NAME_MAX} characters`);
  if (/[\p{Cc}\p{Cs}\p{Cf}\s]/u.test(name) || /[<>{}$\\]/.test(name)) {
    throw unusable(`${JSON.stringify(name.slice(0, 80))} is not the name of a server`);
  }
}

function reasonWithoutName(server: JsonObject): string {
  if (Object.hasOwn(server, "mcpServers") || Object.hasOwn(server, "command")) {
    return "It is the config of a client, and no server.json: plugboard add takes it as it is";
  }
  return "It has no name, so it is no server.json";
}

function httpsOnly(url: string | undefined): string | undefined {
  return url !== undefined && URL.canParse(url) && /^https?:$/.test(new URL(url).protocol) ? url : undefined;
}

function text<K extends string>(key: K, value: string | undefined, max: number): { readonly [P in K]?: string } {
  const line = shownLine(value, max);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a computed key loses its type
  return (line === undefined ? {} : { [key]: line }) as { readonly [P in K]?: string };
}
