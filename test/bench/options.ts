// The command line of the benchmark.

import { join } from "node:path";
import { parseArgs } from "node:util";
import { ROOT } from "./places.ts";

export interface Options {
  readonly rounds: number;
  readonly sliceMs: number;
  readonly warmMs: number;
  /** Names of scenarios; empty for all. */
  readonly only: readonly string[];
  readonly peers: boolean;
  readonly pinned: boolean;
  readonly out: string;
  readonly writeDocs: boolean;
  readonly help: boolean;
}

export const USAGE = `npm run bench -- [options]

  --quick         one short round: two minutes or so, and far less exact
  --only A,B      these scenarios; what the others gave in the last run is kept
  --rounds N      how often everything is measured
  --slice MS      for how long at a time
  --no-peers      without the other programs, which are installed from npm, crates.io, the Go proxy and PyPI when they are first needed
  --no-pin        without a core of its own for the target
  --out FOLDER    where bench.json and bench.svg go
  --write-docs    puts the results into docs/performance.md and docs/performance.svg as well
`;

export function parseOptions(args: readonly string[]): Options {
  const { values } = parseArgs({
    args: [...args],
    options: {
      quick: { type: "boolean", default: false },
      only: { type: "string", default: "" },
      rounds: { type: "string" },
      slice: { type: "string" },
      "no-peers": { type: "boolean", default: false },
      "no-pin": { type: "boolean", default: false },
      out: { type: "string", default: join(ROOT, "test-results") },
      "write-docs": { type: "boolean", default: false },
      help: { type: "boolean", default: false },
    },
  });
  const rounds = Number(values.rounds ?? (values.quick ? 1 : 5));
  if (!Number.isInteger(rounds) || rounds < 1) throw new Error(`--rounds is a number from 1 on, not ${values.rounds}`);
  const sliceMs = Number(values.slice ?? (values.quick ? 120 : 400));
  if (!(sliceMs > 0)) throw new Error(`--slice is a number of milliseconds, not ${values.slice}`);
  return {
    rounds,
    sliceMs,
    warmMs: values.quick ? 500 : 2000,
    only: values.only.split(",").filter((name) => name !== ""),
    peers: !values["no-peers"],
    pinned: !values["no-pin"],
    out: values.out,
    writeDocs: values["write-docs"],
    help: values.help,
  };
}
