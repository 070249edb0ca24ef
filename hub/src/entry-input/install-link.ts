// Links that add a server to a client when they are opened: `cursor://…`, `vscode:mcp/install?…`, `lmstudio://…`.

import { parseJson } from "@plugboard/shared/lenient";
import { HubError } from "../errors.ts";
import { clientOf, type DescribedServer } from "./described-server.ts";
import { serversIn } from "./json-entries.ts";

const SCHEME = /^(?:cursor|vscode|vscode-insiders|lmstudio):/i;
/** Web pages that forward to such a link. */
const PAGES = /^https:\/\/(?:(?:www\.)?cursor\.com\/(?:[a-z]{2}\/)?install-mcp|(?:insiders\.)?vscode\.dev\/redirect)/i;

/** Undefined if the text is no such link. */
export function parseInstallLink(text: string): DescribedServer[] | undefined {
  if (!SCHEME.test(text) && !PAGES.test(text)) return undefined;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  // VS Code forwards to a link in a parameter.
  const inner = url?.searchParams.get("url");
  if (inner !== undefined && inner !== null) return parseInstallLink(inner);
  const query = text.slice(text.indexOf("?") + 1);
  const given = url?.searchParams.get("config");
  // In `vscode:mcp/install?…` the whole query is the JSON.
  const json = given === null || given === undefined ? parseJson(decoded(query)) : readConfig(given);
  if (typeof json !== "object" || json === null) {
    throw new HubError("InvalidArgument", "The link has no config of a server", { field: "text" });
  }
  const name = url?.searchParams.get("name") ?? undefined;
  const isCursor = /cursor/i.test(text.slice(0, 24));
  return serversIn(json).map((server) => ({
    ...server,
    ...(name === undefined ? {} : { name }),
    client: clientOf(isCursor ? "cursor" : "vscode"),
  }));
}

/** JSON, or its base64. */
function readConfig(text: string): unknown {
  return parseJson(text) ?? parseJson(Buffer.from(text.replaceAll(" ", "+"), "base64").toString("utf8"));
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // malformed escapes: reported as a link without a config
  }
}
