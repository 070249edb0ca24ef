// `plugboard doctor`: looks at everything that must be right, and says what is not and what to do. Starts no server and
// changes nothing.

import type { GlobalOptions, Io } from "./io.ts";
import { Output } from "./output.ts";
import type { Register } from "./program.ts";
import { count } from "./text.ts";

const FAILED = 1;

export const doctorCommand: Register = (program, { io, done }) => {
  program
    .command("doctor")
    .description("check the installation, the config and the hub; exit 1 if something is wrong")
    .action(async (options: GlobalOptions) => done(await doctor(io, options)));
};

async function doctor(io: Io, options: GlobalOptions): Promise<number> {
  const { examine } = await import("./checks.ts");
  const out = new Output(io, options);
  const checks = await examine(io, options);
  const problems = checks.filter(({ state }) => state === "problem").length;
  const warnings = checks.filter(({ state }) => state === "warning").length;
  if (out.json) out.data({ ok: problems === 0, problems, warnings, checks });
  else {
    const marks = {
      ok: ["✔", out.color.good],
      warning: ["!", out.color.doubtful],
      problem: ["✖", out.color.bad],
    } as const;
    for (const { name, state, message, fix } of checks) {
      const [mark, paint] = marks[state];
      out.table([[{ text: mark, paint }, `${name}: ${message}`]]);
      if (fix !== undefined && state !== "ok") for (const line of fix.split("\n")) out.print(`    fix: ${line}`);
    }
    out.print(
      problems + warnings === 0 ? "No problems" : `${count(problems, "problem")}, ${count(warnings, "warning")}`,
    );
  }
  return problems === 0 ? 0 : FAILED;
}
