// `plugboard doctor`: looks at everything that must be right, and says what is not and what to do. Starts no server, and
// changes nothing; with --fix it puts right what it safely can, and says each thing that it did.

import type { CheckResult } from "./checks.ts";
import type { GlobalOptions, Io } from "./io.ts";
import { Output } from "./output.ts";
import type { Register } from "./program.ts";
import type { Repaired } from "./repairs.ts";
import { count } from "./text.ts";

const FAILED = 1;
const FIX = "plugboard doctor --fix";

interface DoctorOptions extends GlobalOptions {
  readonly fix?: boolean;
}

export const doctorCommand: Register = (program, { io, done }) => {
  program
    .command("doctor")
    .description("check the installation, the config and the hub; exit 1 if something is wrong")
    .option("--fix", "put right what can safely be: rights of files, what killed processes left, a damaged call log")
    .action(async (options: DoctorOptions) => done(await doctor(io, options)));
};

async function doctor(io: Io, options: DoctorOptions): Promise<number> {
  const [{ examine }, { findRepairs }] = await Promise.all([import("./checks.ts"), import("./repairs.ts")]);
  const out = new Output(io, options);
  const repaired = options.fix === true ? await repair(io, options) : undefined;
  if (repaired !== undefined && !out.json) tell(repaired, out);
  const left = (await findRepairs(io, options)).map(({ name, state, message, fix }) => ({
    name,
    state,
    message,
    fix: fix ?? FIX,
  }));
  const checks = [...(await examine(io, options, left)), ...left];
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

async function repair(io: Io, options: DoctorOptions): Promise<Repaired> {
  const [{ repairAll }, { correctByHand }] = await Promise.all([import("./repairs.ts"), import("./syntax-errors.ts")]);
  const repaired = await repairAll(io, options);
  const corrected = await correctByHand(io, options);
  const byHand = corrected.map((path) => ({ name: "config", message: `${path} was corrected in the editor` }));
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
  if (fix !== undefined && state !== "ok") for (const line of fix.split("\n")) out.print(`    fix: ${line}`);
}
