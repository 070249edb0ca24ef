// `plugboard doctor`: checks the installation and suggests fixes. It starts no server and changes nothing; with --fix it makes
// the safe repairs and reports each one.

import type { CheckResult, Examined } from "../../doctor/checks.ts";
import { findHub } from "../hub-access/find-hub.ts";
import { hubFoldersOf } from "../hub-access/run-file.ts";
import type { GlobalOptions, Io } from "../io.ts";
import { isCommand, Output } from "../terminal/output.ts";
import type { Register } from "../command.ts";
import type { Repaired } from "../../doctor/repairs.ts";
import { count } from "../terminal/text.ts";

const FAILED = 1;
const FIX = "plugboard doctor --fix";

interface DoctorOptions extends GlobalOptions {
  readonly fix?: boolean;
}

export const doctorCommand: Register = (program, { io, done }) => {
  program
    .command("doctor")
    .description("check the installation, the config and the hub; exit 1 if something is wrong")
    .option("--fix", "repair file permissions, leftovers of killed processes, and a damaged call log")
    .action(async (options: DoctorOptions) => done(await doctor(io, options)));
};

async function doctor(io: Io, options: DoctorOptions): Promise<number> {
  const [{ examine }, { findRepairs }] = await Promise.all([
    import("../../doctor/checks.ts"),
    import("../../doctor/repairs.ts"),
  ]);
  const out = new Output(io, options);
  const examined = examinedBy(io, options);
  const repaired = options.fix === true ? await repair(io, options) : undefined;
  if (repaired !== undefined && !out.json) tell(repaired, out);
  const left = (await findRepairs(examined)).map(({ section, name, state, message, fix }) => ({
    section,
    name,
    state,
    message,
    fix: fix ?? FIX,
  }));
  const checks = [...(await examine(examined, left)), ...left];
  const problems = checks.filter(({ state }) => state === "problem").length;
  const warnings = checks.filter(({ state }) => state === "warning").length;
  const ok = problems === 0 && (repaired?.failed ?? []).length === 0;
  if (out.json) out.data({ ok, problems, warnings, ...repaired, checks });
  else {
    for (const check of checks) show(check, out);
    out.print(
      problems + warnings === 0 ? "No problems" : `${count(problems, "problem")}, ${count(warnings, "warning")}`,
    );
  }
  return ok ? 0 : FAILED;
}

function examinedBy(io: Io, options: DoctorOptions): Examined {
  return {
    user: io,
    folders: hubFoldersOf(io, options),
    hub: async () => {
      const hub = await findHub(io, options);
      return hub === undefined ? undefined : { url: hub.url, listServers: () => hub.client.servers.list() };
    },
  };
}

async function repair(io: Io, options: DoctorOptions): Promise<Repaired> {
  const [{ repairAll }, { correctByHand }] = await Promise.all([
    import("../../doctor/repairs.ts"),
    import("../terminal/correct-by-hand.ts"),
  ]);
  const repaired = await repairAll(examinedBy(io, options));
  const corrected = await correctByHand(io, options);
  const byHand = corrected.map((path) => ({ name: "config", message: `${path} was fixed in the editor` }));
  return { ...repaired, fixed: [...repaired.fixed, ...byHand] };
}

function tell({ fixed, failed }: Repaired, out: Output): void {
  for (const { name, message } of fixed) out.table([[{ text: "fixed", paint: out.color.good }, `${name}: ${message}`]]);
  for (const { name, message } of failed) out.warn(`not fixed: ${name}: ${message}`);
}

function show({ name, state, message, fix }: CheckResult, out: Output): void {
  const marks = {
    ok: ["✔", out.color.good],
    warning: ["!", out.color.doubtful],
    problem: ["✖", out.color.bad],
  } as const;
  const [mark, paint] = marks[state];
  out.table([[{ text: mark, paint }, `${name}: ${message}`]]);
  if (fix === undefined || state === "ok") return;
  for (const line of fix.split("\n")) out.print(`    ${isCommand(line) ? "fix" : "note"}: ${line}`);
}
