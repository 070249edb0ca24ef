// Represents an invalid entry as a server, so that it is listed with its error and can be repaired or removed by name.

import type { HubError } from "../../errors.ts";
import type { NamedEntry } from "./entry-names.ts";
import { ARGS_MAX, ARG_MAX, URL_MAX } from "../schema/limits.ts";
import { isSourceOnly } from "./source.ts";
import { isObject } from "../../lib/json/json.ts";
import type { ServerConfig, Transport } from "../schema/types.ts";

export function invalidServer({ key, entry, name, writtenAs }: NamedEntry, error: HubError): ServerConfig {
  const written = isObject(entry) ? entry : {};
  const { hint, ...body } = error.toJSON();
  const where = `Fix ${JSON.stringify(key)} in mcp_server.json, or run plugboard edit ${name} or plugboard rm ${name}`;
  return {
    id: name,
    name,
    ...(writtenAs === undefined ? {} : { writtenAs }),
    invalid: { ...body, hint: hint === undefined ? where : `${hint}\n${where}` },
    ...(isSourceOnly(written) ? { incomplete: written } : {}),
    enabled: written["enabled"] !== false && written["disabled"] !== true,
    source: { type: "manual" },
    transport: partialTransport(written),
    env: {},
    timeouts: {},
    groups: [],
  };
}

/** The parts of the transport that can be shown. */
function partialTransport({ command, args, url }: Readonly<Record<string, unknown>>): Transport {
  if (typeof url === "string" && url.length <= URL_MAX) return { type: "http", url, headers: {} };
  const words = Array.isArray(args) ? args.slice(0, ARGS_MAX) : [];
  return {
    type: "stdio",
    launcher: "binary",
    command: typeof command === "string" ? command.slice(0, ARG_MAX) : "",
    args: words.filter((word) => typeof word === "string").map((word) => word.slice(0, ARG_MAX)),
    hardened: false,
  };
}
