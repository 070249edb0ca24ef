// What would be run if a server were started: what a person approves, and what its approval is bound to.

import { createHash } from "node:crypto";
import { runsOtherCode } from "../config/parse/risks.ts";
import type { ServerConfig, Source } from "../config/schema/types.ts";
import { canonicalJson } from "../lib/json/canonical-json.ts";

/** Entries written by hand are approved by that act. Everything else waits until a person has seen what it runs. */
export function needsApproval({ source, invalid }: Pick<ServerConfig, "source" | "invalid">): boolean {
  return source.type !== "manual" && invalid === undefined;
}

/** @example originOf({ type: "import", client: "cursor" }) // "an import from cursor" */
export function originOf(source: Source): string {
  switch (source.type) {
    case "official":
      return `the registry (${source.name}@${source.version})`;
    case "smithery":
      return `Smithery (${source.qualifiedName})`;
    case "registry":
      return `the registry ${source.registry} (${source.name}${source.version === undefined ? "" : `@${source.version}`})`;
    case "import":
      return source.scope === "project" ? `a project's file of ${source.client}` : `an import from ${source.client}`;
    case "manual":
      return "the config file";
  }
}

/**
 * The digest of the command line, the folder, and the names of the variables; or of the address and the names of the headers.
 * Values of variables do not count, since they are credentials that change, with two exceptions: which secret is handed over, and
 * variables that make programs run other code.
 */
export function runDigest({
  transport,
  env,
  allowEnv = [],
}: Pick<ServerConfig, "transport" | "env" | "allowEnv">): string {
  const variables = Object.entries(env).map(([name, { value = null, secretRef = null }]) => [
    name,
    { secretRef, ...(runsOtherCode(name) ? { value } : {}) },
  ]);
  const what =
    transport.type === "stdio"
      ? { ...transport, launcher: undefined }
      : { type: transport.type, url: transport.url, headers: Object.keys(transport.headers).toSorted() };
  return digestOf({ what, env: Object.fromEntries(variables), allowEnv: allowEnv.toSorted() });
}

/** Of any JSON, independent of the order of keys. */
export function digestOf(value: unknown): string {
  return createHash("sha256").update(canonicalJson(value)).digest("base64url");
}
