// A fault as a row of a table: what the server does, what the caller must see, how often the tool may have run. And the
// hub that all rows of a family share.

import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import type { ErrorCode, ErrorKind } from "../../hub/src/errors.ts";
import { seesTags } from "../support/processes.ts";
import { FaultHub, type Outcome } from "./fault-hub.ts";
import { checkAfter, takeBaseline, type Baseline } from "./post-conditions.ts";
import type { Scenario } from "./scenario.ts";

/** What the caller gets: the tool's answer, the server's own error unchanged, or a failure of the hub. */
export type Sees =
  | "answer"
  | "tool error"
  | { readonly rpc: number }
  | { readonly code: ErrorCode; readonly kind?: ErrorKind; readonly message?: string | RegExp };

export interface Row {
  readonly id: string;
  readonly what: string;
  readonly scenario: Scenario;
  /** Settings of this server, beside the usual ones. */
  readonly entry?: Readonly<Record<string, unknown>>;
  /** `act`, which has no hints, unless told. */
  readonly tool?: string;
  readonly sees: Sees;
  /** How often the tool ran: once, unless told. */
  readonly ran?: number;
  /** How many requests reached the server: once, unless told. */
  readonly heard?: number;
  /** A state that the server must have been in. */
  readonly passes?: "error" | "disconnected";
  /** The next call is answered, with nobody having done anything. */
  readonly thenWorks?: boolean;
  /** Needs so much of the machine that it is run by itself. */
  readonly heavy?: boolean;
}

export interface Family {
  readonly hub: () => FaultHub;
}

/** A family of tests around one hub. After each of them the hub must be as it was. */
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

/** So many rows run side by side in one test: most of their time is waiting. ROWS=1 gives each a test of its own. */
const AT_ONCE = Number(process.env["ROWS"] ?? 6);

/** A test for every few rows. What holds after a test holds after all of them. */
export function rows(table: readonly Row[], { hub }: Family): void {
  const title = ({ id, what }: Row) => `${id} ${what}`;
  inBatches(
    table.filter(({ heavy }) => heavy !== true),
    title,
    (row) => runRow(hub(), row),
  );
  for (const row of table.filter(({ heavy }) => heavy === true)) {
    it(`${row.id} ${row.what}`, () => runRow(hub(), row));
  }
}

/** A test for every few rows of any table; a failure says which of them it was. */
export function inBatches<T>(table: readonly T[], title: (row: T) => string, run: (row: T) => Promise<void>): void {
  for (let at = 0; at < table.length; at += AT_ONCE) {
    const some = table.slice(at, at + AT_ONCE);
    it(`side by side: ${some.map(title).join("; ")}`, async () => {
      const results = await Promise.allSettled(some.map(run));
      for (const [n, result] of results.entries()) {
        if (result.status === "fulfilled") continue;
        if (result.reason instanceof Error) result.reason.message = `${title(some[n] as T)}: ${result.reason.message}`;
        throw result.reason;
      }
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

/** Calls that all run at once. */
export function together(hub: FaultHub, name: string, count: number, tool = "act"): Promise<Outcome[]> {
  return Promise.all(Array.from({ length: count }, (_, n) => hub.call(name, tool, { id: `x${n}` })));
}
