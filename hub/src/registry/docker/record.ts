// A server of Docker's MCP catalogue: a `server.yaml` of its repository, or an entry of the catalogue that Docker publishes.

import { isIdentifier } from "../../config/schema/identifier.ts";
import { toPlainJson } from "../../config/parse/plain-object.ts";
import { HubError } from "../../errors.ts";
import type { JsonObject } from "../../lib/json/json.ts";
import type { Argument, Offer, PackageOffer, RemoteOffer, ServerRecord, Variable } from "../model.ts";
import { requirePublicAddress } from "../server-json/address.ts";
import { flagOf, listOf, member, requireObject, shownLine, textOf, unusable, valueOf } from "../server-json/fields.ts";
import { requireFixed } from "../server-json/inputs.ts";
import { requireHeader } from "../server-json/remote.ts";
import { Parameters } from "./parameters.ts";

const LIST_MAX = 100;

/** @param name of an entry of the published catalogue, where the name is its key. */
export function readCatalogueEntry(document: unknown, name?: string): ServerRecord {
  const json = requireObject(toPlainJson(requireObject(document, "The server")), "The server");
  const called = name ?? textOf(json, "name");
  if (called === undefined) throw unusable("It has no name");
  if (called.length > 128 || /[\p{Cc}\p{Cs}\s<>{}]/u.test(called)) {
    throw unusable(`${JSON.stringify(called.slice(0, 80))} is not the name of a server`);
  }
  const about = objectOf(json, "about") ?? json;
  const source = objectOf(json, "source") ?? {};
  const image = textOf(json, "image");
  const version = versionOf(image, source);
  const kind = kindOf(json);
  const website = textOf(source, "project", "upstream");
  const title = shownLine(textOf(about, "title"), 100);
  const description = shownLine(textOf(about, "description"), 1000);
  const record = {
    name: called,
    ...(version === undefined ? {} : { version }),
    ...(title === undefined ? {} : { title }),
    ...(description === undefined ? {} : { description }),
    ...(website !== undefined && /^https?:/.test(website) ? { repository: website } : {}),
    state: "active" as const,
    kinds: [kind],
  };
  try {
    return { ...record, offers: [readOffer(json, called, kind)], unusable: [] };
  } catch (thrown) {
    if (!(thrown instanceof HubError)) throw thrown;
    return { ...record, offers: [], unusable: [{ kind, identifier: image ?? "", reason: thrown.message }] };
  }
}

function kindOf(json: JsonObject): string {
  const type = textOf(json, "type") ?? (member(json, "remote") === undefined ? "server" : "remote");
  return type === "server" ? "oci" : type.slice(0, 40);
}

/** The digest of the image, or the commit that it is built from. */
function versionOf(image: string | undefined, source: JsonObject): string | undefined {
  const digest = /@(sha256:[0-9a-f]{64})$/.exec(image ?? "")?.[1];
  const commit = textOf(source, "commit");
  return digest ?? (commit !== undefined && /^[0-9a-f]{7,64}$/.test(commit) && /\d/.test(commit) ? commit : undefined);
}

function readOffer(json: JsonObject, server: string, kind: string): Offer {
  if (kind !== "oci" && kind !== "remote") {
    throw unusable(
      kind === "poci"
        ? "It is a set of containers that run for one call each"
        : `The hub does not run servers of type ${kind}`,
    );
  }
  const config = objectOf(json, "config") ?? json;
  const parameters = new Parameters(server, config, json);
  if (kind === "remote") return readRemote(requireObject(member(json, "remote"), "remote"), parameters);
  return readImage(json, config, parameters);
}

function readImage(json: JsonObject, config: JsonObject, parameters: Parameters): PackageOffer {
  const image = textOf(json, "image");
  if (image === undefined) throw unusable("It names no image");
  if (!isIdentifier("docker", image)) throw unusable(`${JSON.stringify(image.slice(0, 80))} is not a valid image`);
  const run = objectOf(json, "run") ?? json;
  const env: Variable[] = [...parameters.secretVariables(), ...variablesOf(config, parameters)];
  requireDistinct(env);
  const volumes = words(run, "volumes").map((word): Argument => volumeOf(word, parameters));
  const command = words(run, "command").map((word): Argument => argumentOf(word, parameters));
  const isOffline = flagOf(run, "disableNetwork");
  const hosts = listOf(run, "allowHosts", LIST_MAX).filter((host) => typeof host === "string");
  return {
    kind: "oci",
    identifier: image,
    // The container never gets more rights than it starts with.
    runtimeArguments: [...(isOffline ? [] : [{ flag: "--security-opt", text: ["no-new-privileges"] }]), ...volumes],
    packageArguments: command,
    env,
    ...(isOffline ? { hardened: true } : {}),
    inputs: parameters.used,
    warnings: [
      ...(/[:@]/.test(image.slice(image.lastIndexOf("/")))
        ? []
        : [`${image} has no version: docker takes the newest when it pulls it`]),
      ...(hosts.length === 0 || isOffline
        ? []
        : [`Docker lets it connect to ${hosts.join(", ")} only; the hub does not limit it`]),
      ...parameters.warnings,
    ],
  };
}

function variablesOf(config: JsonObject, parameters: Parameters): Variable[] {
  return listOf(config, "env", LIST_MAX).map((given, index) => {
    const definition = requireObject(given, `env[${index}]`);
    const name = textOf(definition, "env", "name") ?? "";
    requireVariable(name);
    const value = valueOf(definition, name, "value");
    return {
      name,
      text: value === undefined ? parameters.own(name, definition) : parameters.template(value, name, definition),
    };
  });
}

function requireVariable(name: string): void {
  if (!/^[A-Za-z0-9_]{1,256}$/.test(name)) {
    throw unusable(`${JSON.stringify(name.slice(0, 40))} is not the name of an environment variable`);
  }
}

function requireDistinct(env: readonly Variable[]): void {
  const twice = env.find(({ name }, index) => env.findIndex((other) => other.name === name) !== index);
  if (twice !== undefined) throw unusable(`The variable ${twice.name} is defined twice`);
}

/** `{{server.path}}:/data:ro`, or `{{server.paths|volume|into}}`: each path at the same place. */
function volumeOf(word: string, parameters: Parameters): Argument {
  const each = parameters.listIn(word, "volume");
  if (each !== undefined) return { flag: "-v", text: [{ input: each }, ":", { input: each }], isList: true };
  return { flag: "-v", text: parameters.template(word, "volumes") };
}

function argumentOf(word: string, parameters: Parameters): Argument {
  const each = parameters.listIn(word, "into") ?? parameters.listIn(word, "volume-target");
  if (each !== undefined) return { text: [{ input: each }], isList: true };
  return { text: parameters.template(word, "command") };
}

function words(json: JsonObject, field: string): string[] {
  return listOf(json, field, LIST_MAX).map((word) => {
    if (typeof word !== "string") throw unusable(`${field} must be a list of texts`);
    return word;
  });
}

function readRemote(remote: JsonObject, parameters: Parameters): RemoteOffer {
  const url = textOf(remote, "url");
  if (url === undefined) throw unusable("It has no address");
  requireFixed(url, "url");
  requirePublicAddress(url);
  const type = textOf(remote, "transportType") ?? "streamable-http";
  if (!/^(?:sse|http|streamable[-_]?http)$/i.test(type))
    throw unusable(`The hub does not speak ${JSON.stringify(type.slice(0, 40))}`);
  const headers = Object.entries(objectOf(remote, "headers") ?? {}).map(([name, value]) => {
    requireHeader(name);
    if (typeof value !== "string") throw unusable(`The header ${name} must be text`);
    return { name, text: parameters.secretTemplate(value, `The header ${name}`) };
  });
  return {
    kind: "remote",
    type: /sse/i.test(type) ? "sse" : "http",
    url: [url],
    headers,
    inputs: parameters.used,
    warnings: parameters.warnings,
  };
}

function objectOf(json: JsonObject, name: string): JsonObject | undefined {
  const value = member(json, name);
  if (value === undefined) return undefined;
  return requireObject(value, name);
}
