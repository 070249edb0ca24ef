// How soon a change is seen by the others, and what the direct connection does when it is lost.

import { describe, expect, it, onTestFinished } from "vitest";
import { openStores, usePostgres } from "../../../test/support/pg-stores.ts";
import { POSTGRES_PROGRAMS } from "../../../test/support/postgres.ts";
import { Changes } from "./changes.ts";

const CHANGES = 20;

describe.skipIf(POSTGRES_PROGRAMS === undefined)("SC-2 changes of others", () => {
  const postgres = usePostgres();

  async function open(listens: boolean) {
    const { db, address, close } = await openStores(postgres?.() ?? expect.unreachable());
    const problems: (string | undefined)[] = [];
    const changes = new Changes({ address, listens, onProblem: (problem) => problems.push(problem) });
    onTestFinished(async () => {
      await changes.close();
      await close();
    });
    let [seen, onSeen] = [0, () => {}];
    const stop = changes.watch("config", {
      isCurrent: (version) => version === seen,
      onChange: () => {
        seen++;
        onSeen();
      },
    });
    onTestFinished(stop);
    /** Resolves with the time until the change is seen. */
    const change = async () => {
      const next = new Promise<void>((resolve) => (onSeen = resolve));
      await db.change("config", async () => {});
      const began = performance.now();
      await next;
      return performance.now() - began;
    };
    return { db, changes, change, problems };
  }

  async function times(change: () => Promise<number>): Promise<number[]> {
    const all: number[] = [];
    for (let count = 0; count < CHANGES; count++) all.push(await change());
    return all.toSorted((a, b) => a - b);
  }

  it("are seen at once by a notification", async () => {
    const { change } = await open(true);
    await change();
    const all = await times(change);
    expect(all[CHANGES / 2]).toBeLessThan(200);
  });

  it("are seen within a second without notifications", async () => {
    const { change } = await open(false);
    await change();
    const all = await times(change);
    // Each waits for the next look; the machine may stall now and then.
    expect(all[CHANGES / 2]).toBeLessThan(1100);
  });

  it("are seen after the connection was lost, and locks are taken again", async () => {
    const { db, changes, change, problems } = await open(true);
    await change();
    changes.hold("mine");
    while (!changes.holds("mine")) await new Promise((resolve) => setTimeout(resolve, 10));
    await db.run(
      "select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid() and query like '%plugboard.version%'",
    );
    await change();
    while (!changes.holds("mine")) await new Promise((resolve) => setTimeout(resolve, 10));
    expect(problems.filter((problem) => problem !== undefined)).not.toEqual([]);
    await expect.poll(() => problems.at(-1)).toBeUndefined();
  });
});
