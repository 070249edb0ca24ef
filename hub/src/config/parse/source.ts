// Where an entry comes from: a registry and the name that the server has there, or a person (S0 McpSource).

import { HubError } from "../../errors.ts";
import { parseWith, sourceEntry, type ServerEntry } from "../schema/schema.ts";
import type { Source } from "../schema/types.ts";

const OFFICIAL = "official";
const SMITHERY = "smithery";

/** The source of an entry, in any of its spellings. */
export function toSource(source: ServerEntry["source"]): Source {
  const type = (typeof source === "string" ? source : source?.type)?.toLowerCase();
  const parts = typeof source === "object" ? (source ?? undefined) : undefined;
  if (parts?.registry !== undefined) return inRegistry(parts.registry.trim(), parts);
  if (type === OFFICIAL || parts?.Official) return inRegistry(OFFICIAL, parts?.Official ?? parts ?? {});
  if (type === SMITHERY || parts?.Smithery) return inRegistry(SMITHERY, parts?.Smithery ?? parts ?? {});
  if (type === "import" && parts?.client) {
    return { type: "import", client: parts.client, scope: parts.scope ?? "user" };
  }
  // Other clients write arbitrary strings here ("custom"). Only this hub writes objects, so those are validated.
  const isManual = type === "manual" || (parts !== undefined && Object.hasOwn(parts, "Manual"));
  if (parts === undefined || isManual) return { type: "manual" };
  throw invalid("Source type must be official, smithery, import or manual, or name a registry", "source.type");
}

interface Names {
  readonly name?: string | undefined;
  readonly version?: string | undefined;
  readonly qualifiedName?: string | undefined;
  readonly qualified_name?: string | undefined;
}

function inRegistry(registry: string, { name, version, qualified_name, qualifiedName }: Names): Source {
  if (registry === "") throw invalid("The source names no registry", "source.registry");
  if (version !== undefined && !isExactVersion(version)) {
    throw invalid(`A source needs an exact version, and ${JSON.stringify(version)} is none`, "source.version");
  }
  if (registry === SMITHERY) {
    const qualified = qualified_name ?? qualifiedName ?? name;
    if (qualified) return { type: SMITHERY, qualifiedName: qualified };
    throw invalid("A smithery source needs a qualifiedName", "source");
  }
  if (registry === OFFICIAL) {
    if (name && version) return { type: OFFICIAL, name, version };
    throw invalid("An official source needs a name and a version", "source");
  }
  if (!name) throw invalid("A source in a registry needs a name", "source.name");
  return { type: "registry", registry, name, ...(version === undefined ? {} : { version }) };
}

/** Whether an entry names a registry, and says nothing else about what is run. */
export function isSourceOnly(entry: Readonly<Record<string, unknown>>): boolean {
  const { source, command, url, package: pkg, transport } = entry;
  if (source == null || command != null || url != null || pkg != null || transport != null) return false;
  try {
    return registryOf(toSource(parseWith(sourceEntry, source))) !== undefined;
  } catch {
    return false; // reported as invalid
  }
}

/** Whether a version names one release for ever, and not a range or a tag that moves. */
export function isExactVersion(version: string): boolean {
  return /\d/.test(version) && !/^[~^<>=*!]|[\s|,*]|\.[xX](?:\.|$)/.test(version);
}

/** The registry of a source, and what the server is called there; undefined: it comes from no registry. */
export function registryOf(
  source: Source,
): { readonly registry: string; readonly name: string; readonly version?: string } | undefined {
  switch (source.type) {
    case "manual":
    case "import":
      return undefined;
    case "smithery":
      return { registry: SMITHERY, name: source.qualifiedName };
    case "official":
      return { registry: OFFICIAL, name: source.name, version: source.version };
    case "registry":
      return {
        registry: source.registry,
        name: source.name,
        ...(source.version === undefined ? {} : { version: source.version }),
      };
  }
}

function invalid(message: string, field: string): HubError {
  return new HubError("InvalidConfig", message, { field });
}
