// Everything that a hub carries, between clients and servers of both eras, over every transport, with official SDKs on both
// sides. A cell that cannot be seen says why: the protocol has no such thing, or the hub does not have it yet.

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { CELLS, nameOf, transportGap, type Gap } from "../support/matrix/cell.ts";
import { FEATURES } from "../support/matrix/features.ts";
import type { Peer } from "../support/matrix/peer.ts";
import { createWorld, type World } from "../support/matrix/world.ts";

let world: World;

beforeAll(async () => {
  world = await createWorld();
});

afterAll(() => world?.end());

const ways = CELLS.map((cell) => ({ name: nameOf(cell), cell, gap: transportGap(cell) }));
const reasonOf = (gap: Gap) => ("impossible" in gap ? `impossible: ${gap.impossible}` : `missing: ${gap.missing}`);

describe.each(ways.filter(({ gap }) => gap === undefined))("$name", ({ cell }) => {
  const rows = FEATURES.map(({ name, gap, see }) => ({ name, see, gap: gap?.(cell) }));
  let peer: Peer;

  beforeAll(async () => {
    peer = await world.connect(cell);
  });

  it.each(rows.filter(({ gap }) => gap === undefined))("CL-2 GR-7 $name", async ({ see }) => {
    await expect(see(peer)).resolves.toBeUndefined();
  });

  const gaps = rows.flatMap(({ name, see, gap }) => (gap === undefined ? [] : [{ name, see, why: reasonOf(gap) }]));
  it.each(gaps)("CL-2 GR-7 $name: not here ($why)", async ({ see }) => {
    await expect(see(peer), "It works: strike out the gap").rejects.toThrow();
  });
});

it.each(ways.filter(({ gap }) => gap !== undefined))("CL-2 $name: impossible by the protocol", ({ gap }) => {
  expect(gap).toEqual({ impossible: expect.any(String) });
});
