// Servers at which each caller has credentials of its own: a login (`auth.per: "user"`), or personal secrets (`${user:NAME}`).

import { HubError } from "../../errors.ts";
import type { Isolation, ServerConfig } from "../schema/types.ts";
import { textsInAuth } from "./auth-entry.ts";
import { isPersonalName, personalName, referencesIn } from "./expand.ts";

type Texts = readonly (readonly [field: string, text: string])[];

/** The names of the personal secrets that an entry uses. */
export function personalSecretsOf(server: Pick<ServerConfig, "transport" | "env">): string[] {
  const names = personalTexts(server).flatMap(([, text]) =>
    referencesIn(text).flatMap((name) => personalName(name) ?? []),
  );
  return [...new Set(names)];
}

export function isPerUser(server: Pick<ServerConfig, "transport" | "env" | "auth">): boolean {
  return server.auth?.per === "user" || personalSecretsOf(server).length > 0;
}

/** Callers with credentials of their own share no process or connection. */
export function isolationOf(server: ServerConfig): Isolation | undefined {
  return server.isolation ?? (isPerUser(server) ? "per-principal" : undefined);
}

/** Throws if callers with credentials of their own would share a connection, or a personal secret is used where none may be. */
export function requireSeparateCallers(server: ServerConfig): ServerConfig {
  for (const [field, text] of personalTexts(server)) requireForm(field, text);
  for (const [field, text] of otherTexts(server)) {
    if (!text.includes(PERSONAL)) continue;
    throw new HubError("InvalidConfig", `${field} cannot use a personal secret`, {
      field,
      hint: "`${user:NAME}` is for headers, env and args",
    });
  }
  if (server.isolation === "shared" && isPerUser(server)) {
    throw new HubError("InvalidConfig", "A server at which callers have credentials of their own cannot be shared", {
      field: "isolation",
      hint: 'Remove "isolation": "shared"; callers then have a process or connection each',
    });
  }
  return server;
}

const PERSONAL = "${user:";

function personalTexts({ transport, env }: Pick<ServerConfig, "transport" | "env">): Texts {
  const values = Object.entries(env).map(([name, { value = "" }]) => [`env.${name}`, value] as const);
  const others =
    transport.type === "stdio"
      ? transport.args.map((arg, index) => [`args.${index}`, arg] as const)
      : Object.entries(transport.headers).map(([name, value]) => [`headers.${name}`, value] as const);
  return [...values, ...others];
}

function otherTexts({ transport, auth, network = {} }: ServerConfig): Texts {
  const own =
    transport.type === "stdio"
      ? ([
          ["command", transport.command],
          ["cwd", transport.cwd ?? ""],
        ] as const)
      : ([["url", transport.url]] as const);
  const proxy = typeof network.proxy === "string" ? [["proxy", network.proxy] as const] : [];
  const tls = Object.entries(network.tls ?? {}).map(([name, value]) => [`tls.${name}`, value] as const);
  return [...own, ...proxy, ...tls, ...(auth === undefined ? [] : textsInAuth(auth))];
}

/** A personal secret has no default, which everyone without one would share. */
function requireForm(field: string, text: string): void {
  for (const part of text.split(PERSONAL).slice(1)) {
    const [name = "", ...rest] = part.split("}");
    if (rest.length > 0 && isPersonalName(name)) continue;
    throw new HubError("InvalidConfig", `${field} has a personal secret without a proper name`, {
      field,
      hint: "Write ${user:NAME}: letters, digits and _, without a default",
    });
  }
}
