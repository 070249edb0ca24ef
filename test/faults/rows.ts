// A fault as a table row: what the server does, what the caller must see, and how often the tool may run. Also the hub that all
// rows of a family share.

import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import type { ErrorCode, ErrorKind } from "../../hub/src/errors.ts";
import { seesTags } from "../support/processes.ts";
import { FaultHub, type Outcome } from "./fault-hub.ts";
import { checkAfter, takeBaseline, type Baseline } from "./post-conditions.ts";
import type { Scenario } from "./scenario.ts";

/** The caller gets the answer of the tool, the server's own error unchanged, or an error of the hub. */
export type Sees =
  | "answer"
  | "tool error"
  | { readonly rpc: number }
  | { readonly code: ErrorCode; readonly kind?: ErrorKind; readonly message?: string | RegExp };

export interface Row {
  readonly id: string;
  readonly what: string;
  readonly scenario: Scenario;
  /** Settings of this server, added to the defaults. */
  readonly entry?: Readonly<Record<string, unknown>>;
  /** Default: `act`, which has no hints. */
  readonly tool?: string;
  readonly sees: Sees;
  /** How often the tool ran. Default: once. */
  readonly ran?: number;
  /** How many requests reached the server. Default: one. */
  readonly heard?: number;
  /** A state that the server must have been in. */
  readonly passes?: "error" | "disconnected";
  /** The next call succeeds without any intervention. */
  readonly thenWorks?: boolean;
  /** Runs alone, because it uses much of the machine. */
  readonly heavy?: boolean;
}

export interface Family {
  readonly hub: () => FaultHub;
}

/** A family of tests around one hub. After each test the hub must be in the same state as before. */
export function family(
  name: string,
  tests: (family: Family) => void,
  options: Parameters<typeof FaultHub.open>[0] = {},
) {
  describe.runIf(seesTags)(`faults: ${name}`, () => {
    let hub: FaultHub;
    let before: Baseline;

    beforeAll(async () => {
      hub = await FaultHub.open(options);
      before = await takeBaseline(hub);
    });

    afterEach(() => checkAfter(hub, before));

    afterAll(async () => {
      expect(await hub?.end()).toBe(0);
    });

    tests({ hub: () => hub });
  });
}

/** The number of concurrent rows, which mostly wait. */
const BATCH_SIZE = 6;

/** A test for every row. */
export function rows(table: readonly Row[], { hub }: Family): void {
  const title = ({ id, what }: Row) => `${id} ${what}`;
  inBatches(
    table.filter(({ heavy }) => heavy !== true),
    title,
    (row) => runRow(hub(), row),
  );
  for (const row of table.filter(({ heavy }) => heavy === true)) it(`${row.id} ${row.what}`, () => runRow(hub(), row));
}

/**
 * A test for every row of any table. The first test of a batch runs all its rows concurrently, and the others report their own
 * outcome: the checks after each test need an idle hub, so rows cannot be concurrent tests.
 */
export function inBatches<T>(table: readonly T[], title: (row: T) => string, run: (row: T) => Promise<void>): void {
  for (let at = 0; at < table.length; at += BATCH_SIZE) {
    const batch = table.slice(at, at + BATCH_SIZE);
    let running: Promise<PromiseSettledResult<void>[]> | undefined;
    it.each(batch.map((row, index) => [title(row), index] as const))("%s", async (_title, index) => {
      const result = (await (running ??= Promise.allSettled(batch.map(run))))[index];
      if (result?.status === "rejected") throw result.reason;
    });
  }
}

async function runRow(hub: FaultHub, row: Row): Promise<void> {
  const { tool = "act", ran = 1, heard = Math.max(1, ran) } = row;
  const { name, up } = await hub.add(row.scenario, row.entry);
  const outcome = await hub.call(name, tool, { id: "x1" });
  requireSeen(outcome, row.sees);
  expect([up.ran(tool), up.count("heard", { tool })]).toEqual([ran, heard]);
  if (row.passes !== undefined) await hub.passed(name, row.passes);
  if (row.thenWorks === true) requireSeen(await hub.call(name, tool, { id: "x2" }), "answer", "x2");
}

export function requireSeen(outcome: Outcome, sees: Sees, id = "x1"): void {
  const { text, error, rpcError, isError } = outcome;
  const got = { text, error, rpcError, isError };
  if (sees === "answer") expect(got).toEqual({ text: `${outcome.tool} ${id}`, isError: false });
  else if (sees === "tool error") expect(got).toMatchObject({ text: "it failed", isError: true });
  else if ("rpc" in sees) expect(got).toMatchObject({ rpcError: { code: sees.rpc } });
  else {
    const { message, ...rest } = sees;
    expect(got).toMatchObject({ error: rest, isError: true });
    if (message instanceof RegExp) expect(error?.message).toMatch(message);
    else if (message !== undefined) expect(error?.message.split(". The outcome is unknown")[0]).toBe(message);
  }
}

/** Concurrent calls. */
export function together(hub: FaultHub, name: string, count: number, tool = "act"): Promise<Outcome[]> {
  return Promise.all(Array.from({ length: count }, (_, n) => hub.call(name, tool, { id: `x${n}` })));
}
