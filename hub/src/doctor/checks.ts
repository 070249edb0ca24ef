// The checks of the installation. None of them throws.

import { execFile } from "node:child_process";
import { access, constants, stat } from "node:fs/promises";
import { connect } from "node:net";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { readManagementToken } from "../auth/management-token.ts";
import type { ServerConfig } from "../config/schema/types.ts";
import { summaryOf, toHubError } from "../errors.ts";
import { configuredSecretKey } from "../secrets/configured-key.ts";
import { FileSecrets } from "../secrets/file-store.ts";
import { isIntact } from "../servers/npm/installs.ts";
import { PackageRecords } from "../servers/npm/install-record.ts";
import { isBroken } from "../servers/status.ts";
import { resolveCommand, resolveServer } from "../servers/process/resolve.ts";
import { checkFiles, readServers } from "./check-config.ts";
import type { HubPaths } from "../config/files/paths.ts";
import type { PlatformContext } from "../config/files/system-folders.ts";
import { findSyntaxErrors } from "./syntax-errors.ts";
import { count, firstLine } from "../lib/text.ts";
import { findProgram } from "../lib/files/find-program.ts";

export type Section = "machine" | "hub" | "config" | "servers" | "clients" | "files";

/** What the checks look at. */
export interface Examined {
  readonly user: PlatformContext;
  readonly folders: HubPaths;
  /** The running hub; undefined if there is none. Throws if one does not answer. */
  readonly hub: () => Promise<ExaminedHub | undefined>;
}

export interface ExaminedHub {
  readonly url: string;
  listServers(): Promise<readonly ExaminedServer[]>;
}

interface ExaminedServer {
  readonly config: { readonly name: string };
  readonly status: string;
  readonly error: {
    readonly message: string;
    readonly detail?: string | undefined;
    readonly hint?: string | undefined;
  } | null;
  readonly warnings: readonly string[];
}

export interface CheckResult {
  readonly section: Section;
  readonly name: string;
  readonly state: "ok" | "warning" | "problem";
  readonly message: string;
  readonly fix?: string;
}

const DEFAULT_PORT = 7430;
const PATIENCE_MS = 5000;

/** `known`: problems that were already reported and are not repeated. */
export async function examine(examined: Examined, known: readonly Pick<CheckResult, "name">[]): Promise<CheckResult[]> {
  const { user, folders } = examined;
  const servers = (await readServers(folders.config)).filter(({ enabled }) => enabled);
  // What the hub says of a server that runs or failed there holds: it may have other variables than this environment.
  const { up, broken } = await serversOf(examined);
  const others = servers.filter(({ name }) => !up.has(name));
  const groups = await Promise.all([
    checkConfig(folders),
    checkPrograms(user, folders, others),
    checkCredentials(
      user,
      folders,
      others.filter(({ name }) => !broken.has(name)),
    ),
    known.some(({ name }) => name === "secrets") ? [] : checkSecrets(user, folders),
    checkPackages(folders),
    checkFolders(folders),
    checkClients(user),
    checkHub(examined),
  ]);
  return [checkNode(), ...groups.flat()];
}

/** The servers that run in the hub, and those that `checkHub` reports. */
async function serversOf({ hub }: Examined): Promise<Readonly<Record<"up" | "broken", ReadonlySet<string>>>> {
  const found = await hub().catch(() => undefined); // checkHub reports the reason
  const servers = (await found?.listServers().catch(() => undefined)) ?? [];
  const named = (is: (status: string) => boolean) =>
    new Set(servers.filter(({ status }) => is(status)).map(({ config }) => config.name));
  return { up: named((status) => status === "running"), broken: named(isBroken) };
}

function checkNode(): CheckResult {
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  const fits = major > 20 || (major === 20 && minor >= 19);
  const message = `${process.versions.node} (needs 20.19 or newer)`;
  return {
    section: "machine",
    name: "Node",
    state: fits ? "ok" : "problem",
    message,
    ...(fits ? {} : { fix: "Install Node 20.19 or newer" }),
  };
}

async function checkConfig({ config }: HubPaths): Promise<CheckResult[]> {
  try {
    const { valid, errors, warnings, servers, groups } = await checkFiles(config, undefined);
    const state = valid ? "ok" : "problem";
    const message = valid
      ? `${config}: ${count(servers, "server")}, ${count(groups, "group")}`
      : `${config} is not valid`;
    const positions = (await findSyntaxErrors(config)).map(({ path, line, column }) => `${path}:${line}:${column}`);
    const fix = positions.map((position) => `Fix ${position}; plugboard doctor --fix opens it in $EDITOR`);
    return [
      { section: "config", name: "config", state, message, ...(fix.length === 0 ? {} : { fix: fix.join("\n") }) },
      ...errors.map(
        ({ message: text, hint }) =>
          ({
            section: "config",
            name: "config",
            state,
            message: text,
            ...(hint === undefined ? {} : { fix: hint }),
          }) as const,
      ),
      ...warnings.map((text) => ({ section: "config", name: "config", state: "warning", message: text }) as const),
    ];
  } catch (thrown) {
    return [failed("config", "config", thrown)];
  }
}

const INSTALL: Readonly<Record<string, string>> = {
  npx: "Install Node with npm: https://nodejs.org",
  uvx: "Install uv: https://docs.astral.sh/uv/getting-started/installation",
  docker: "Install Docker: https://docs.docker.com/engine/install",
};

/** Checks the programs that start enabled servers. */
async function checkPrograms(
  io: PlatformContext,
  { config }: HubPaths,
  servers: readonly ServerConfig[],
): Promise<CheckResult[]> {
  const users = new Map<string, string[]>();
  for (const { name, transport } of servers) {
    if (transport.type !== "stdio") continue;
    const command = commandOf(transport.command, io, config);
    if (command !== undefined) users.set(command, [...(users.get(command) ?? []), name]);
  }
  return Promise.all(
    [...users].map(async ([program, names]): Promise<CheckResult> => {
      const path = await findProgram(program, io.env["PATH"]);
      const needed = `needed by ${names.join(", ")}`;
      if (path === undefined) {
        const fix = INSTALL[program] ?? `Fix the command, or disable it: plugboard disable ${names[0]}`;
        return { section: "machine", name: program, state: "problem", message: `not found, ${needed}`, fix };
      }
      if (/(?:^|\/)docker$/.test(program) && !(await dockerAnswers(path, io))) {
        return {
          section: "machine",
          name: program,
          state: "problem",
          message: `installed, but its engine does not answer; ${needed}`,
          fix: "Start Docker",
        };
      }
      return { section: "machine", name: program, state: "ok", message: path };
    }),
  );
}

/** Undefined if a variable is missing, which is reported for the server itself. */
function commandOf(command: string, { env }: PlatformContext, configFolder: string): string | undefined {
  try {
    return resolveCommand(command, { variables: env, configFolder });
  } catch {
    return undefined;
  }
}

async function dockerAnswers(path: string, { env }: PlatformContext): Promise<boolean> {
  const run = promisify(execFile);
  return run(path, ["version", "--format", "{{.Server.Version}}"], { timeout: PATIENCE_MS, env: { ...env } }).then(
    () => true,
    () => false,
  );
}

/** Variables and secrets that servers need and this environment lacks. A hub started elsewhere may have others. */
async function checkCredentials(
  io: PlatformContext,
  { config, data }: HubPaths,
  servers: readonly ServerConfig[],
): Promise<CheckResult[]> {
  const secrets = new FileSecrets(data, { key: keyOf(io) });
  const results = await Promise.all(
    servers.map(async (server): Promise<CheckResult | undefined> => {
      try {
        await resolveServer(server, { variables: io.env, secrets, configFolder: config });
        return undefined;
      } catch (thrown) {
        const { message, field, detail, hint } = toHubError(thrown);
        const what = [message, field, detail].filter((part) => part !== undefined).join(": ");
        return {
          section: "servers",
          name: server.name,
          state: "problem",
          message: what,
          fix: hint ?? `plugboard get ${server.name}`,
        };
      }
    }),
  );
  return results.filter((result) => result !== undefined);
}

/** A secret that cannot be decrypted is reported with the secrets. */
function keyOf({ env }: PlatformContext): string | undefined {
  try {
    return configuredSecretKey(env);
  } catch {
    return undefined;
  }
}

async function checkSecrets(io: PlatformContext, { data }: HubPaths): Promise<CheckResult[]> {
  try {
    const names = await new FileSecrets(data, { key: configuredSecretKey(io.env) }).list();
    await readManagementToken(data);
    return [
      {
        section: "files",
        name: "secrets",
        state: "ok",
        message: `${names.length} stored, encrypted, in ${join(data, "secrets")}`,
      },
    ];
  } catch (thrown) {
    return [failed("files", "secrets", thrown)];
  }
}

/** Packages that the hub has installed, and damaged ones. */
async function checkPackages({ data }: HubPaths): Promise<CheckResult[]> {
  const folder = join(data, "packages");
  const records = [...(await new PackageRecords(join(folder, "specs")).all()).values()];
  if (records.length === 0) return [];
  const intact = await Promise.all(records.map((record) => isIntact(join(folder, "installs", record.folder))));
  const damaged = records.filter((_record, index) => !intact[index]);
  return [
    {
      section: "files",
      name: "packages",
      state: "ok",
      message: `${count(records.length, "npm package")} in ${folder}`,
    },
    ...damaged.map(({ spec, version }): CheckResult => ({
      section: "files",
      name: "packages",
      state: "warning",
      message: `${spec} (${version}) is damaged`,
      fix: "Start its server: the same version is installed again",
    })),
  ];
}

async function checkFolders({ data, state }: HubPaths): Promise<CheckResult[]> {
  const results = await Promise.all(
    [data, state].map(async (folder): Promise<CheckResult | undefined> => {
      try {
        await access(await existing(folder), constants.W_OK);
        return undefined;
      } catch (thrown) {
        const message = `${folder} cannot be written: ${firstLine(String(thrown))}`;
        return {
          section: "files",
          name: "folders",
          state: "problem",
          message,
          fix: "Change its permissions, or set PLUGBOARD_HOME",
        };
      }
    }),
  );
  return results.filter((result) => result !== undefined);
}

/** The folder, or its nearest existing parent. */
async function existing(folder: string): Promise<string> {
  const info = await stat(folder).catch(() => undefined);
  return info === undefined && dirname(folder) !== folder ? existing(dirname(folder)) : folder;
}

/** Config files of other clients that cannot be read. */
async function checkClients(io: PlatformContext): Promise<CheckResult[]> {
  const [{ CLIENTS }, { scan }] = await Promise.all([
    import("../client-configs/client-table.ts"),
    import("../client-configs/import/scan.ts"),
  ]);
  const files = await scan({ clients: CLIENTS, context: io, folder: undefined });
  return files.flatMap(({ file, error }): CheckResult[] => {
    if (error === undefined) return [];
    return [
      {
        section: "clients",
        name: file.client.id,
        state: "warning",
        message: error.message,
        fix: error.hint ?? `Fix ${file.path}`,
      },
    ];
  });
}

async function checkHub({ hub: find }: Examined): Promise<CheckResult[]> {
  try {
    const hub = await find();
    if (hub === undefined) {
      const taken = await answers(DEFAULT_PORT);
      const message = taken ? `not running; port ${DEFAULT_PORT} is used by another program` : "not running";
      return [
        {
          section: "hub",
          name: "hub",
          state: taken ? "warning" : "ok",
          message,
          fix: "Choose another port: plugboard start --port N",
        },
      ];
    }
    const servers = await hub.listServers();
    const broken = servers.filter(({ status }) => isBroken(status));
    return [
      { section: "hub", name: "hub", state: "ok", message: `running at ${hub.url}` },
      ...broken.map((server): CheckResult => ({
        section: "servers",
        name: server.config.name,
        state: "problem",
        message: server.error === null ? server.status : summaryOf(server.error),
        // The log may be empty, and always is for a remote server; `get` shows it too.
        fix: server.error?.hint ?? `plugboard get ${server.config.name}`,
      })),
      ...servers.flatMap(warningOf),
    ];
  } catch (thrown) {
    return [failed("hub", "hub", thrown)];
  }
}

/** The warnings of a working server. */
function warningOf({ config, status, warnings: [first, ...others] }: ExaminedServer): CheckResult[] {
  if (first === undefined || isBroken(status)) return [];
  const message = others.length === 0 ? first : `${first} (and ${count(others.length, "more warning")})`;
  return [{ section: "servers", name: config.name, state: "warning", message, fix: `plugboard get ${config.name}` }];
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: "127.0.0.1", timeout: 1000 });
    const end = (result: boolean) => {
      socket.destroy();
      resolve(result);
    };
    socket.once("connect", () => end(true));
    socket.once("error", () => end(false));
    socket.once("timeout", () => end(false));
  });
}

function failed(section: Section, name: string, thrown: unknown): CheckResult {
  const { message, detail, hint } = toHubError(thrown);
  const text = detail === undefined ? message : `${message}: ${firstLine(detail)}`;
  return { section, name, state: "problem", message: text, ...(hint === undefined ? {} : { fix: hint }) };
}
