// Reads a metadata document of a well-known address. A missing document differs from an unreadable one: discovery tries another
// URL only if it is missing. Otherwise an error could downgrade a login to a weaker protocol.

import { HubError } from "../../errors.ts";
import type { JsonObject } from "../../lib/json/json.ts";
import { parseObject } from "../parse-object.ts";
import type { GuardedFetch } from "../types.ts";

export interface DocumentFetch {
  readonly fetch: GuardedFetch;
  readonly signal?: AbortSignal | undefined;
}

/** The statuses that say that there is no document here. Some servers refuse everything that they do not know. */
const NOT_THERE: ReadonlySet<number> = new Set([401, 403, 404, 405, 410]);
/** The newest revision, whose rules these requests follow. */
const HEADERS = { accept: "application/json", "mcp-protocol-version": "2026-07-28" };

/** Undefined: it is not there. Rejects with ConnectionFailed for anything that is neither there nor absent. */
export async function readDocument(url: string, { fetch, signal }: DocumentFetch): Promise<JsonObject | undefined> {
  const response = await fetch(url, { headers: HEADERS, signal });
  if (NOT_THERE.has(response.status)) return undefined;
  if (response.status !== 200) throw unreadable(url, `HTTP status ${response.status}`);
  const document = parseObject(await response.text());
  if (document === undefined) throw unreadable(url, "The answer is no JSON object");
  return document;
}

export function unreadable(url: string, detail: string): HubError {
  const { origin, pathname } = new URL(url);
  return new HubError("ConnectionFailed", `The metadata at ${origin}${pathname} cannot be read`, { detail });
}

/** A member that is a list of texts; other elements are left out. */
export function textsIn(document: JsonObject, name: string): readonly string[] | undefined {
  const value = document[name];
  return Array.isArray(value) ? value.filter((element) => typeof element === "string") : undefined;
}
