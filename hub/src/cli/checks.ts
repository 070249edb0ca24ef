// What `plugboard doctor` looks at. Each check says one thing; none of them throws.

import { execFile } from "node:child_process";
import { access, constants, stat } from "node:fs/promises";
import { connect } from "node:net";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { readManagementToken } from "../auth/management-token.ts";
import type { Server } from "../api/schemas/server.ts";
import type { ServerConfig } from "../config/types.ts";
import { toHubError } from "../errors.ts";
import { givenSecretKey } from "../secrets/given-key.ts";
import { FileSecrets } from "../secrets/file-store.ts";
import { isIntact } from "../servers/npm/intact.ts";
import { PackageRecords } from "../servers/npm/record.ts";
import { resolveCommand, resolveServer } from "../servers/resolve.ts";
import { checkFiles, readServers } from "./check-config.ts";
import { findHub } from "./find-hub.ts";
import type { GlobalOptions, Io } from "./io.ts";
import { describe, isBroken } from "./progress.ts";
import { placesOf, type Places } from "./record.ts";
import { findSyntaxErrors } from "./syntax-errors.ts";
import { count, firstLine } from "./text.ts";
import { findProgram } from "./which.ts";

export interface CheckResult {
  readonly name: string;
  readonly state: "ok" | "warning" | "problem";
  readonly message: string;
  readonly fix?: string;
}

const DEFAULT_PORT = 7430;
const PATIENCE_MS = 5000;

/** `known`: what is wrong already, and would only be said again. */
export async function examine(io: Io, options: GlobalOptions, known: readonly CheckResult[]): Promise<CheckResult[]> {
  const places = placesOf(io, options);
  const servers = (await readServers(places.config)).filter(({ enabled }) => enabled);
  // What runs has what it needs, whatever is set here: its hub may have been started in another environment.
  const up = await runningServers(io, options);
  const others = servers.filter(({ name }) => !up.has(name));
  const groups = await Promise.all([
    checkConfig(places),
    checkPrograms(io, places, others),
    checkCredentials(io, places, others),
    known.some(({ name }) => name === "secrets") ? [] : checkSecrets(io, places),
    checkPackages(places),
    checkFolders(places),
    checkClients(io),
    checkHub(io, options),
  ]);
  return [checkNode(), ...groups.flat()];
}

async function runningServers(io: Io, options: GlobalOptions): Promise<ReadonlySet<string>> {
  const hub = await findHub(io, options).catch(() => undefined); // checkHub says why
  const servers = (await hub?.client.listServers().catch(() => undefined)) ?? [];
  return new Set(servers.filter(({ status }) => status === "running").map(({ config }) => config.name));
}

function checkNode(): CheckResult {
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  const fits = major > 20 || (major === 20 && minor >= 19);
  const message = `${process.versions.node} (needs 20.19 or newer)`;
  return { name: "Node", state: fits ? "ok" : "problem", message, ...(fits ? {} : { fix: "Install a newer Node" }) };
}

async function checkConfig({ config }: Places): Promise<CheckResult[]> {
  try {
    const { valid, errors, warnings, servers, groups } = await checkFiles(config, undefined);
    const state = valid ? "ok" : "problem";
    const message = valid
      ? `${config}: ${count(servers, "server")}, ${count(groups, "group")}`
      : `${config} is not valid`;
    const places = (await findSyntaxErrors(config)).map(({ path, line, column }) => `${path}:${line}:${column}`);
    const fix = places.map((place) => `correct ${place}; plugboard doctor --fix opens it there in your $EDITOR`);
    return [
      { name: "config", state, message, ...(fix.length === 0 ? {} : { fix: fix.join("\n") }) },
      ...errors.map(
        ({ message: text, hint }) =>
          ({ name: "config", state, message: text, ...(hint === undefined ? {} : { fix: hint }) }) as const,
      ),
      ...warnings.map((text) => ({ name: "config", state: "warning", message: text }) as const),
    ];
  } catch (thrown) {
    return [failed("config", thrown)];
  }
}

const INSTALL: Readonly<Record<string, string>> = {
  npx: "Install Node with npm: https://nodejs.org",
  uvx: "Install uv: https://docs.astral.sh/uv/getting-started/installation",
  docker: "Install Docker: https://docs.docker.com/engine/install",
};

/** Every program that an enabled server is started with. */
async function checkPrograms(io: Io, { config }: Places, servers: readonly ServerConfig[]): Promise<CheckResult[]> {
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
        const fix = INSTALL[program] ?? `Correct the command, or disable it: plugboard disable ${names[0]}`;
        return { name: program, state: "problem", message: `not found, ${needed}`, fix };
      }
      if (/(?:^|\/)docker$/.test(program) && !(await dockerAnswers(path, io))) {
        return {
          name: program,
          state: "problem",
          message: `installed, but its engine does not answer; ${needed}`,
          fix: "Start Docker",
        };
      }
      return { name: program, state: "ok", message: path };
    }),
  );
}

/** Undefined where a variable is missing, which is said of the server itself. */
function commandOf(command: string, { env }: Io, configFolder: string): string | undefined {
  try {
    return resolveCommand(command, { variables: env, configFolder });
  } catch {
    return undefined;
  }
}

async function dockerAnswers(path: string, { env }: Io): Promise<boolean> {
  const run = promisify(execFile);
  return run(path, ["version", "--format", "{{.Server.Version}}"], { timeout: PATIENCE_MS, env: { ...env } }).then(
    () => true,
    () => false,
  );
}

/** What a server needs and this environment does not have. A hub elsewhere may have another environment. */
async function checkCredentials(
  io: Io,
  { config, data }: Places,
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
        return { name: server.name, state: "problem", message: what, fix: hint ?? `plugboard get ${server.name}` };
      }
    }),
  );
  return results.filter((result) => result !== undefined);
}

/** One that cannot be read is said of the secrets. */
function keyOf({ env }: Io): string | undefined {
  try {
    return givenSecretKey(env);
  } catch {
    return undefined;
  }
}

async function checkSecrets(io: Io, { data }: Places): Promise<CheckResult[]> {
  try {
    const names = await new FileSecrets(data, { key: givenSecretKey(io.env) }).list();
    await readManagementToken(data);
    return [
      { name: "secrets", state: "ok", message: `${names.length} stored, encrypted, in ${join(data, "secrets")}` },
    ];
  } catch (thrown) {
    return [failed("secrets", thrown)];
  }
}

/** What the hub has installed, and what of it is no longer whole. */
async function checkPackages({ data }: Places): Promise<CheckResult[]> {
  const folder = join(data, "packages");
  const records = [...(await new PackageRecords(join(folder, "specs")).all()).values()];
  if (records.length === 0) return [];
  const intact = await Promise.all(records.map((record) => isIntact(join(folder, "installs", record.folder))));
  const damaged = records.filter((_record, index) => !intact[index]);
  return [
    { name: "packages", state: "ok", message: `${count(records.length, "npm package")} in ${folder}` },
    ...damaged.map(({ spec, version }): CheckResult => ({
      name: "packages",
      state: "warning",
      message: `${spec} (${version}) is damaged`,
      fix: "Start its server: it is installed anew, in the same version",
    })),
  ];
}

async function checkFolders({ data, state }: Places): Promise<CheckResult[]> {
  const results = await Promise.all(
    [data, state].map(async (folder): Promise<CheckResult | undefined> => {
      try {
        await access(await existing(folder), constants.W_OK);
        return undefined;
      } catch (thrown) {
        const message = `${folder} cannot be written: ${firstLine(String(thrown))}`;
        return { name: "folders", state: "problem", message, fix: "Change its rights, or set PLUGBOARD_HOME" };
      }
    }),
  );
  return results.filter((result) => result !== undefined);
}

/** The folder, or where it would be made. */
async function existing(folder: string): Promise<string> {
  const there = await stat(folder).catch(() => undefined);
  return there === undefined && dirname(folder) !== folder ? existing(dirname(folder)) : folder;
}

/** Files of other clients that nobody can read: what they name is not there for those clients either. */
async function checkClients(io: Io): Promise<CheckResult[]> {
  const [{ CLIENTS }, { scan }] = await Promise.all([import("../clients/table.ts"), import("../clients/scan.ts")]);
  const files = await scan({ clients: CLIENTS, surroundings: io, folder: undefined });
  return files.flatMap(({ file, error }): CheckResult[] => {
    if (error === undefined) return [];
    return [
      { name: file.client.id, state: "warning", message: error.message, fix: error.hint ?? `correct ${file.path}` },
    ];
  });
}

async function checkHub(io: Io, options: GlobalOptions): Promise<CheckResult[]> {
  try {
    const hub = await findHub(io, options);
    if (hub === undefined) {
      const taken = await answers(DEFAULT_PORT);
      const message = taken ? `not running, and port ${DEFAULT_PORT} belongs to another program` : "not running";
      return [
        { name: "hub", state: taken ? "warning" : "ok", message, fix: "plugboard start --port with another port" },
      ];
    }
    const servers = await hub.client.listServers();
    const broken = servers.filter(({ status }) => isBroken(status));
    return [
      { name: "hub", state: "ok", message: `running at ${hub.url}` },
      ...broken.map((server): CheckResult => ({
        name: server.config.name,
        state: "problem",
        message: describe(server),
        fix: server.error?.hint ?? `plugboard logs ${server.config.name}`,
      })),
      ...servers.flatMap(warningOf),
    ];
  } catch (thrown) {
    return [failed("hub", thrown)];
  }
}

/** One that works, and has something that somebody should know. */
function warningOf({ config, status, warnings: [first, ...others] }: Server): CheckResult[] {
  if (first === undefined || isBroken(status)) return [];
  const message = others.length === 0 ? first : `${first} (and ${count(others.length, "more warning")})`;
  return [{ name: config.name, state: "warning", message, fix: `plugboard get ${config.name}` }];
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

function failed(name: string, thrown: unknown): CheckResult {
  const { message, detail, hint } = toHubError(thrown);
  const text = detail === undefined ? message : `${message}: ${firstLine(detail)}`;
  return { name, state: "problem", message: text, ...(hint === undefined ? {} : { fix: hint }) };
}
