// `plugboard auth`: logs in at remote servers, and shows, renews and ends these logins. A client secret is never a command line
// argument, which every user of the machine could read.

import { text as readAll } from "node:stream/consumers";
import type { Command } from "commander";
import type { OnBehalf } from "../../api/client/logins-client.ts";
import type { Login } from "../../api/schemas/login.ts";
import type { Server } from "../../api/schemas/server.ts";
import { HubError, toHubError } from "../../errors.ts";
import type { Register } from "../command.ts";
import { withAccess, type Access } from "../hub-access/hub-access.ts";
import { logIn, type LoginOptions } from "../hub-access/login.ts";
import type { GlobalOptions, Io } from "../io.ts";
import { DEFAULT_PORT } from "../../network/defaults.ts";
import { readHidden } from "../terminal/read-hidden.ts";
import { waiting } from "../terminal/spinner.ts";
import { table } from "../terminal/table.ts";
import { count } from "../terminal/text.ts";
import { clock, span } from "../terminal/times.ts";
import { parsePort } from "./up.ts";

interface AuthOptions extends LoginOptions {
  readonly scope: readonly string[];
  readonly clientId?: string;
  readonly clientSecretStdin?: boolean;
  readonly issuer?: string;
  readonly as?: string;
  readonly port: string;
}

export const authCommand: Register = (program, context) => {
  const { io } = context;
  const auth = program
    .command("auth")
    .description("log in at a remote server; without a server, list all logins")
    .argument("[server]", "name or id of the server")
    .option("--no-browser", "only print the address")
    .option("--device", "log in with a code, in a browser on any machine")
    .option("--paste", "paste the address at which a browser on another machine arrives")
    .option("--scope <scope>", "ask for this scope instead of the usual ones; repeatable", collect, [])
    .option("--client-id <id>", "the client id, if the authorization server registers none by itself")
    .option("--client-secret-stdin", "read its client secret from stdin, or prompt for it")
    .option("--issuer <url>", "the authorization server, if the server names several")
    .option(
      "--as <user>",
      "whose login it becomes, where each caller has one: an address, id or program (default: yours)",
    )
    .option("--port <n>", "port for the browser to come back to, if no hub is running", String(DEFAULT_PORT))
    .action(async (server: string | undefined, options: AuthOptions) => {
      // The time limit is that of the login, not of the requests for it.
      const { timeout: _, ...others } = options;
      await withAccess(io, others, (access) =>
        server === undefined ? listLogins(access) : logInAt(io, access, server, options),
      );
    });
  serverCommand(auth, "show", "show one login: account, scopes, issuer, client, expiry", context, show);
  serverCommand(auth, "refresh", "get new tokens now", context, refresh);
  serverCommand(auth, "logout", "revoke the tokens of a login, and forget them", context, logout);
};

function serverCommand(
  auth: Command,
  name: string,
  description: string,
  { io }: Parameters<Register>[1],
  run: (access: Access, server: string, whose: OnBehalf) => Promise<void>,
): void {
  auth
    .command(name)
    .description(description)
    .argument("<server>", "name or id of the server")
    .option("--as <user>", "whose login, where each caller has one: an address, id or program (default: yours)")
    .action(async (server: string, _: GlobalOptions, command: Command) => {
      // Both `auth` and its subcommands have the option.
      const options = command.optsWithGlobals<GlobalOptions & OnBehalf>();
      await withAccess(io, options, (access) => run(access, server, { as: options.as }));
    });
}

function collect(value: string, all: readonly string[]): string[] {
  return [...all, ...value.split(/[\s,]+/).filter((scope) => scope !== "")];
}

async function logInAt(io: Io, access: Access, id: string, options: AuthOptions): Promise<void> {
  const { scope, clientId, issuer, device, paste, as } = options;
  if (device === true && paste === true) {
    throw new HubError("InvalidArgument", "Use either --device or --paste", { field: "paste" });
  }
  if (issuer !== undefined && !URL.canParse(issuer)) {
    throw new HubError("InvalidArgument", `--issuer "${issuer}" is not an address`, { field: "issuer" });
  }
  const server = await access.api.servers.get(id);
  const secret = await readClientSecret(io, options);
  const request = {
    ...(scope.length === 0 ? {} : { scopes: [...scope] }),
    ...(clientId === undefined ? {} : { client_id: clientId }),
    ...(secret === undefined ? {} : { client_secret: secret }),
    ...(issuer === undefined ? {} : { issuer }),
    ...(as === undefined ? {} : { as }),
  };
  await logInAndConnect(io, access, { server, request, port: parsePort(options.port) }, options);
}

export interface LoginToMake {
  readonly server: Server;
  readonly request: Parameters<typeof logIn>[2]["request"];
  readonly port: number;
}

/** Logs in, connects the server, and says as whom. */
export async function logInAndConnect(
  io: Io,
  access: Access,
  { server, request, port }: LoginToMake,
  options: LoginOptions,
): Promise<void> {
  const { api, out } = access;
  const { id, name, enabled } = server.config;
  await access.listenForLogins(port).catch((error: unknown) => Promise.reject(withPortHint(error, name, port)));
  const principal = await logIn(io, access, { server: name, request }, options);
  const problem = enabled ? await connect(io, access, id, name) : undefined;
  const connected = await api.servers.get(id);
  const own = connected.logins?.find((each) => each.principal === principal);
  const login = own ?? connected.login ?? undefined;
  const account = login?.account === undefined ? "" : ` as ${login.account}`;
  const result = { server: name, login: login ?? null, status: connected.status, tool_count: connected.tool_count };
  if (problem === undefined && enabled)
    out.changed(`${name}: connected${account}, ${count(connected.tool_count, "tool")}`, result);
  else
    out.changed(`${name}: logged in${account}${enabled ? "" : `; it is disabled: plugboard enable ${name}`}`, result);
  for (const warning of login === undefined ? [] : shortLife(login)) out.warn(warning);
  if (problem !== undefined) throw problem;
}

/** The reason why the server does not run. */
async function connect(io: Io, access: Access, id: string, name: string): Promise<HubError | undefined> {
  const starting: Promise<unknown> =
    access.hub === undefined ? access.ready(name) : access.hub.client.servers.start(id);
  try {
    await waiting(io, access.out, `connecting ${name}`, starting);
    return undefined;
  } catch (error) {
    return toHubError(error);
  }
}

/** A login that ends with its access token. */
function shortLife({ server, renewable, expires_at: end }: Login): string[] {
  if (renewable !== false) return [];
  const when = end === undefined ? "when its token expires" : `in ${span(Date.parse(end) - Date.now())}`;
  return [
    `The login at ${server} has to be repeated ${when}: the authorization server gave no refresh token. If it knows the scope offline_access, add --scope offline_access`,
  ];
}

function withPortHint(error: unknown, server: string, port: number): unknown {
  if (!(error instanceof HubError) || error.kind !== "PortInUse") return error;
  return new HubError("PortInUse", error.message, {
    detail: "The browser comes back to this port after the login",
    hint: `plugboard auth ${server} --port ${port + 1}`,
    cause: error,
  });
}

async function readClientSecret(io: Io, options: AuthOptions): Promise<string | undefined> {
  const { clientSecretStdin, clientId, input } = options;
  if (clientSecretStdin !== true) return undefined;
  if (clientId === undefined)
    throw new HubError("InvalidArgument", "--client-secret-stdin needs --client-id", { field: "client-id" });
  const isTyped = io.stdin.isTTY === true && input !== false;
  const secret = isTyped ? await readHidden(io, "Client secret: ") : (await readAll(io.stdin)).replace(/\r?\n$/, "");
  if (secret !== "") return secret;
  throw new HubError("InvalidArgument", "The client secret is empty", {
    hint: "printf %s SECRET | plugboard auth SERVER --client-id ID --client-secret-stdin",
  });
}

/** The states in words. */
export const LOGIN_STATES: Readonly<Record<Login["state"], string>> = {
  connected: "connected",
  needs_login: "needs login",
  pending: "logging in",
  retrying: "renewal failed",
  none: "no login",
};

async function listLogins(access: Access): Promise<void> {
  const { api, out } = access;
  const logins = await api.logins.list();
  if (out.json) return out.data(logins);
  const shown = logins.filter(({ state }) => state !== "none");
  if (shown.length === 0) return out.note("No logins. If a server needs one: plugboard auth SERVER");
  const isShared = shown.every(({ principal }) => principal === "local");
  out.table([
    ["SERVER", ...(isShared ? [] : ["WHOSE"]), "STATE", "ACCOUNT", "SCOPES", "EXPIRES", "RENEWED"],
    ...shown.map(({ server, principal, state, account, scopes, expires_at, renewed_at }) => [
      server,
      ...(isShared ? [] : [principal]),
      LOGIN_STATES[state],
      account ?? "-",
      scopes?.join(" ") ?? "-",
      expires_at === undefined ? "-" : remaining(expires_at),
      renewed_at === undefined ? "-" : `${span(Date.now() - Date.parse(renewed_at))} ago`,
    ]),
  ]);
  access.mentionNoHub();
}

function remaining(time: string): string {
  const ms = Date.parse(time) - Date.now();
  return ms <= 0 ? "expired" : `in ${span(ms)}`;
}

async function loginAt({ api }: Access, id: string, { as }: OnBehalf): Promise<Login> {
  const { config, login } = await api.servers.get(id);
  if (as !== undefined) {
    const { logins } = await api.connections.get({ for: as });
    const found = logins.find(({ server }) => server === config.name);
    if (found !== undefined) return found;
    throw new HubError("InvalidArgument", `All callers of "${config.name}" share one login, or it has none`, {
      hint: `plugboard auth show ${config.name}`,
    });
  }
  if (login !== null) return login;
  throw new HubError("InvalidArgument", `The hub does not log in at "${config.name}"`, {
    hint: `plugboard get ${config.name}`,
  });
}

async function show(access: Access, id: string, whose: OnBehalf): Promise<void> {
  const { out } = access;
  const login = await loginAt(access, id, whose);
  if (out.json) return out.data(login);
  const rows: [string, string | undefined][] = [
    ["server", login.server],
    ["whose", login.principal === "local" ? undefined : login.principal],
    ["state", LOGIN_STATES[login.state]],
    ["account", login.account],
    ["scopes", login.scopes?.join(" ")],
    ["issuer", login.issuer],
    ["resource", login.resource],
    ["client id", login.client_id],
    ["client", login.registered === undefined ? undefined : REGISTERED[login.registered]],
    ["renewed", login.renewed_at === undefined ? undefined : clock(new Date(login.renewed_at))],
    [
      "expires",
      login.expires_at === undefined
        ? undefined
        : `${clock(new Date(login.expires_at))} (${remaining(login.expires_at)})`,
    ],
    [
      "renewable",
      login.renewable === undefined ? undefined : login.renewable ? "yes" : "no: log in again when it expires",
    ],
    ["error", login.error?.message],
    ["fix", login.error?.hint],
  ];
  out.print(
    table(
      rows.flatMap(([label, value]) => (value === undefined ? [] : [[{ text: label, paint: out.color.faint }, value]])),
    ),
  );
}

const REGISTERED = {
  configured: "configured",
  metadata_document: "described by a document",
  registered: "registered by the hub",
} as const;

async function refresh({ api, out }: Access, id: string, whose: OnBehalf): Promise<void> {
  const login = await api.logins.refresh(id, whose);
  const until = login.expires_at === undefined ? "" : `, expires ${remaining(login.expires_at)}`;
  out.changed(`${login.server}: renewed${until}`, login);
}

async function logout({ api, out }: Access, id: string, whose: OnBehalf): Promise<void> {
  const result = await api.logins.logout(id, whose);
  const { server, found, revoked } = result;
  out.changed(found ? `${server}: logged out` : `${server}: there was no login`, result);
  if (found && !revoked)
    out.warn("The authorization server did not revoke the tokens. They are forgotten here, and expire there");
}
