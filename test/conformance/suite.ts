// Runs the official conformance suite as a process: the scenarios of a revision, one run, and the results of each scenario.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { freePort } from "../support/sockets.ts";

export const REVISIONS = { legacy: "2025-11-25", modern: "2026-07-28" } as const;
export type SuiteEra = keyof typeof REVISIONS;
export type Leg = "server" | "client";

const PACKAGE = fileURLToPath(new URL("../../node_modules/@modelcontextprotocol/conformance", import.meta.url));
const ON_NODE_20 = fileURLToPath(new URL("./glob-sync.mjs", import.meta.url));

export interface Scenario {
  readonly name: string;
  /** Whether it counts for conformance. The others are extensions, or newer than the revision. */
  readonly scored: boolean;
}

/** The scenarios of a revision for a server or a client, in the suite's order. */
export function scenariosOf(era: SuiteEra, leg: Leg): Scenario[] {
  const text = readFileSync(join(PACKAGE, "requirements", `${REVISIONS[era]}.yaml`), "utf8");
  const required = new RegExp(String.raw`^${leg}:\n((?: {2}- .+\n)+)`, "m").exec(text)?.[1] ?? "";
  const scored = [...required.matchAll(/^ {2}- (\S+)$/gm)].map(([, name = ""]) => ({ name, scored: true }));
  const others = [...text.matchAll(/^ {2}- scenario: (\S+)\n {4}leg: (\S+)$/gm)].flatMap(([, name = "", of]) =>
    of === leg ? [{ name, scored: false }] : [],
  );
  return [...scored, ...others];
}

export interface Run {
  /** The failed checks of a scenario; empty if it passed. A scenario without a result counts as failed. */
  complaints(scenario: string): readonly string[];
  /** Runs one scenario again, by itself. */
  again(scenario: string): Promise<readonly string[]>;
}

export function runServerSuite(url: string, era: SuiteEra): Promise<Run> {
  return run("server", era, { args: ["--url", url], env: {} });
}

/** All scenarios at once: each starts a server and runs the command with its address. */
export function runClientSuite(command: string, era: SuiteEra, env: Readonly<Record<string, string>>): Promise<Run> {
  return run("client", era, { args: ["--command", command], env });
}

/** One scenario that no list of a revision has. */
export async function runClientScenario(
  scenario: string,
  command: string,
  env: Readonly<Record<string, string>>,
): Promise<readonly string[]> {
  const target = { args: ["--command", command], env };
  return (await start("client", ["--scenario", scenario, "--force"], target))(scenario);
}

interface Target {
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

async function run(leg: Leg, era: SuiteEra, target: Target): Promise<Run> {
  const complaints = await start(leg, ["--requirements", REVISIONS[era]], target);
  return {
    complaints,
    again: async (scenario) => {
      const one = ["--scenario", scenario, "--spec-version", REVISIONS[era], "--force"];
      return (await start(leg, one, target))(scenario);
    },
  };
}

const TIMEOUT_MS = 60_000;

async function start(leg: Leg, what: readonly string[], { args, env }: Target): Promise<Run["complaints"]> {
  const results = await mkdtemp(join(tmpdir(), "plugboard-conformance-"));
  const suite = [join(PACKAGE, "dist/index.js"), leg, ...what, "-o", results, "--timeout", String(TIMEOUT_MS), ...args];
  const child = spawn(process.execPath, ["--import", ON_NODE_20, ...suite], {
    env: { PATH: process.env["PATH"], HOME: process.env["HOME"], ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const killLast = () => void child.kill("SIGKILL");
  process.once("exit", killLast);
  let output = "";
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => (output += chunk));
  child.stderr.setEncoding("utf8").on("data", (chunk: string) => (output += chunk));
  await once(child, "close");
  process.off("exit", killLast);
  const found = await readComplaints(results, leg);
  await rm(results, { recursive: true, force: true });
  if (found.size === 0) throw new Error(`The suite did not run:\n${output.slice(-4000)}`);
  return (scenario) => found.get(scenario) ?? [`no result:\n${output.slice(-2000)}`];
}

/** Every scenario leaves a folder with its name, time and checks. Names may contain `/`. */
async function readComplaints(dir: string, leg: Leg): Promise<ReadonlyMap<string, readonly string[]>> {
  const files = (await readdir(dir, { recursive: true })).filter((file) => file.endsWith("checks.json"));
  const found = files.map(async (file) => {
    const name = file.replace(/-\d{4}-\d\d-\d\dT[\d-]+Z\/checks\.json$/, "");
    const scenario = leg === "server" ? name.replace(/^server-/, "") : name;
    const checks: unknown = JSON.parse(await readFile(join(dir, file), "utf8"));
    const failed = (checks as Check[])
      .filter(({ status }) => status === "FAILURE" || (leg === "client" && status === "WARNING"))
      .map(complaint);
    const ended = leg === "client" && !MAY_END_WITH_ERROR.has(scenario) ? await errorOf(join(dir, file)) : [];
    return [scenario, [...failed, ...ended]] as const;
  });
  return new Map(await Promise.all(found));
}

/** Scenarios in which a conforming client gives up. */
const MAY_END_WITH_ERROR: ReadonlySet<string> = new Set([
  "auth/scope-retry-limit",
  "auth/resource-mismatch",
  "auth/iss-supported-missing",
  "auth/iss-wrong-issuer",
  "auth/iss-unexpected",
  "auth/iss-normalized",
  "auth/metadata-issuer-mismatch",
]);

/** What the client wrote to stderr: it writes nothing unless it fails. The suite's checks leave that out. */
async function errorOf(checks: string): Promise<string[]> {
  const text = await readFile(join(dirname(checks), "stderr.txt"), "utf8");
  return text.trim() === "" ? [] : [`The client ended with an error: ${text.slice(0, 1000)}`];
}

interface Check {
  readonly id: string;
  readonly status: "SUCCESS" | "FAILURE" | "WARNING" | "INFO" | "SKIPPED";
  readonly description: string;
  readonly errorMessage?: string;
}

const complaint = ({ id, description, errorMessage }: Check) => `${id}: ${errorMessage ?? description}`;

/**
 * The scenarios of the authorization server at `url`. The second one builds on the first, so they run together, and need a person:
 * `open` gets the address at which the suite's client wants to be let in.
 */
export async function runAuthorizationSuite(
  url: string,
  { clientId, resource, open }: { clientId: string; resource?: string; open: (url: string) => Promise<unknown> },
): Promise<ReadonlyMap<string, readonly string[]>> {
  const results = await mkdtemp(join(tmpdir(), "plugboard-conformance-"));
  const target = [
    "--url",
    url,
    "--client-id",
    clientId,
    "--port",
    String(await freePort()),
    ...(resource === undefined ? [] : ["--resource", resource]),
  ];
  const suite = [join(PACKAGE, "dist/index.js"), "authorization", ...target, "-o", results];
  const child = spawn(process.execPath, ["--import", ON_NODE_20, ...suite], { stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  let opened: Promise<unknown> | undefined;
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
    output += chunk;
    const asked = /https?:\/\/\S+\/oauth\/authorize\?\S+/.exec(output)?.[0];
    if (asked !== undefined) opened ??= open(asked);
  });
  child.stderr.setEncoding("utf8").on("data", (chunk: string) => (output += chunk));
  await once(child, "close");
  await opened;
  const found = await readComplaints(results, "server");
  await rm(results, { recursive: true, force: true });
  if (found.size === 0) throw new Error(`The suite did not run:\n${output.slice(-4000)}`);
  return found;
}
