// A server as text to copy: the JSON of a client's config file, and the command that adds it.

import type { Server } from "$api/server.ts";

type Described = Pick<Server, "config" | "secret_refs">;

/** What a config file would have; secrets are shown as ***, and references by their name. */
export function toFileEntry({ config, secret_refs: refs }: Described): Record<string, unknown> {
  const { id: _, name: __, enabled, command, args, env, ...rest } = config;
  const variables = Object.entries(env).map(([key, value]) => [
    key,
    refs[key] === undefined ? value : { secretRef: refs[key] },
  ]);
  return {
    ...(config.url === undefined ? { command, ...(args.length > 0 ? { args } : {}) } : {}),
    ...(variables.length > 0 ? { env: Object.fromEntries(variables) as Record<string, unknown> } : {}),
    ...rest,
    ...(enabled ? {} : { enabled }),
  };
}

export function toJsonEntry(server: Described, name = server.config.name): string {
  return JSON.stringify({ mcpServers: { [name]: toFileEntry(server) } }, null, 2);
}

export function toCommandLine({ config, secret_refs: refs }: Described): string {
  const { name, url, command, args, env } = config;
  const variables = Object.entries(env).flatMap(([key, value]) =>
    refs[key] === undefined ? ["--env", `${key}=${value}`] : ["--secret", `${key}=${refs[key]}`],
  );
  const target = url === undefined ? ["--", command, ...args] : [];
  return ["plugboard", "add", ...(url === undefined ? [name] : [url, name]), ...variables, ...target]
    .map(quote)
    .join(" ");
}

/** For a POSIX shell. */
function quote(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;
}
