// Smithery: hosted servers, whose configuration is a JSON schema. Needs a key.

import { HubError } from "../../errors.ts";
import { isObject, type JsonObject } from "../../lib/json/json.ts";
import type {
  Freshness,
  Offer,
  Registry,
  SearchPage,
  SearchRequest,
  ServerRecord,
  ServerSummary,
  Template,
  Unusable,
  Variable,
} from "../model.ts";
import { requirePublicAddress } from "../server-json/address.ts";
import { listOf, member, requireObject, shownLine, textOf, unusable } from "../server-json/fields.ts";
import { Inputs } from "../server-json/inputs.ts";
import { requireHeader } from "../server-json/remote.ts";
import { parseAnswer, type RegistryServer } from "./ask.ts";
import { notFound } from "./v01.ts";

export interface SmitheryOptions {
  readonly registry: string;
  readonly base: string;
  readonly server: RegistryServer;
}

export class SmitheryRegistry implements Registry {
  readonly #options: SmitheryOptions;

  constructor(options: SmitheryOptions) {
    this.#options = options;
  }

  async search({ query, cursor, limit, signal }: SearchRequest): Promise<SearchPage & Freshness> {
    const { base, registry, server } = this.#options;
    const url = new URL(`${base}/servers`);
    if (query.trim() !== "") url.searchParams.set("q", query.trim());
    const page = Math.max(1, Number(cursor ?? 1) || 1);
    url.searchParams.set("page", String(page));
    url.searchParams.set("pageSize", String(Math.min(limit, 100)));
    const { text, ...freshness } = await server.ask(url.href, signal);
    const json = requireAnswer(parseAnswer(registry, text), registry);
    const listed = json["servers"];
    if (!Array.isArray(listed)) throw new HubError("ProtocolError", `${registry} answered without a list of servers`);
    const servers = listed.slice(0, 200).flatMap((each: unknown) => (isObject(each) ? toSummary(each) : []));
    const pagination = isObject(json["pagination"]) ? json["pagination"] : {};
    const pages = member(pagination, "totalPages");
    return {
      servers,
      ...(typeof pages === "number" && page < pages ? { nextCursor: String(page + 1) } : {}),
      ...freshness,
    };
  }

  async get(
    name: string,
    _version: string | undefined,
    signal?: AbortSignal,
  ): Promise<{ readonly record: ServerRecord } & Freshness> {
    const { base, registry, server } = this.#options;
    const path = name.split("/").map(encodeURIComponent).join("/");
    const answer = await server.ask(`${base}/servers/${path}`, signal).catch((error: unknown) => {
      throw error instanceof HubError && error.kind === "ServerNotFound" ? notFound(registry, name, undefined) : error;
    });
    const { text, ...freshness } = answer;
    const record = readSmitheryServer(requireAnswer(parseAnswer(registry, text), registry));
    if (record.name !== name)
      throw new HubError("ProtocolError", `${registry} answered with another server than ${name}`);
    return { record, ...freshness };
  }
}

function requireAnswer(json: unknown, registry: string): JsonObject {
  if (isObject(json)) return json;
  throw new HubError("ProtocolError", `${registry} answered with something that is not an object`);
}

function toSummary(json: JsonObject): ServerSummary[] {
  const name = textOf(json, "qualifiedName");
  if (name === undefined || name.length > 256 || /[\p{Cc}\p{Cs}\s]/u.test(name)) return [];
  const title = shownLine(textOf(json, "displayName"), 100);
  const description = shownLine(textOf(json, "description"), 1000);
  const homepage = textOf(json, "homepage");
  return [
    {
      name,
      ...(title === undefined ? {} : { title }),
      ...(description === undefined ? {} : { description }),
      ...(homepage !== undefined && /^https?:/.test(homepage) ? { website: homepage } : {}),
      state: "active",
      kinds: ["remote"],
    },
  ];
}

/** Throws InvalidConfig if it is no server. */
export function readSmitheryServer(json: JsonObject): ServerRecord {
  const [summary] = toSummary(json);
  if (summary === undefined) throw unusable("It has no name");
  const offers: Offer[] = [];
  const rejected: Unusable[] = [];
  const connections = listOf(json, "connections", 20);
  for (const given of connections) {
    const kind = isObject(given) ? (textOf(given, "type") ?? "connection") : "connection";
    try {
      offers.push(readConnection(requireObject(given, "connections"), json));
    } catch (thrown) {
      if (!(thrown instanceof HubError)) throw thrown;
      rejected.push({ kind, identifier: summary.name, reason: thrown.message });
    }
  }
  if (connections.length === 0) {
    rejected.push({ kind: "none", identifier: "", reason: "It names no way to connect to it" });
  }
  return { ...summary, offers, unusable: rejected };
}

function readConnection(connection: JsonObject, server: JsonObject): Offer {
  const type = textOf(connection, "type");
  if (type !== "http") throw unusable("The hub does not run bundles (mcpb)");
  const address = textOf(connection, "deploymentUrl", "url") ?? textOf(server, "deploymentUrl");
  if (address === undefined) throw unusable("It has no address");
  const base = requirePublicAddress(address);
  const schema = member(connection, "configSchema");
  const inputs = new Inputs();
  const query: { name: string; text: Template }[] = [];
  const headers: Variable[] = [];
  if (isObject(schema) && isObject(schema["properties"])) {
    const required: unknown = schema["required"];
    for (const [name, property] of Object.entries(schema["properties"]).slice(0, 100)) {
      const definition = requireObject(property, name);
      const type_ = textOf(definition, "type");
      const format = type_ === "integer" ? "number" : type_;
      const choices = member(definition, "enum");
      // A header is left out without a value; the query of an address has no holes.
      const from = member(definition, "x-from");
      const place = isObject(from) ? from : {};
      const isRequired = Array.isArray(required) && required.includes(name);
      if (textOf(place, "header") === undefined && !isRequired && member(definition, "default") === undefined) continue;
      const { value: _, ...rest } = definition;
      const text = inputs.template({ ...rest, format, ...(Array.isArray(choices) ? { choices } : {}) }, name, {
        isRequired,
      });
      const header = textOf(place, "header");
      if (header === undefined) query.push({ name: textOf(place, "query") ?? name, text });
      else {
        requireHeader(header);
        headers.push({ name: header, text });
      }
    }
  }
  return {
    kind: "remote",
    type: "http",
    url: withQuery(base, query),
    headers,
    inputs: inputs.all,
    warnings: inputs.warnings,
  };
}

function withQuery(base: URL, query: readonly { readonly name: string; readonly text: Template }[]): Template {
  const path = base.pathname.replace(/\/$/, "");
  const address = `${base.origin}${path.endsWith("/mcp") ? path : `${path}/mcp`}${base.search}`;
  return query.reduce<Template>(
    (url, { name, text }, index) => [
      ...url,
      `${index === 0 && base.search === "" ? "?" : "&"}${encodeURIComponent(name)}=`,
      ...text,
    ],
    [address],
  );
}
