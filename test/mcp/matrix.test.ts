// All features between clients and servers of both eras, over every transport, with official SDKs on both sides. An empty cell has
// a reason: the protocol does not have the feature, or the hub does not have it yet.

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

const open = ways.flatMap(({ name, cell, gap }) => (gap === undefined ? [[name, cell] as const] : []));

describe.each(open)("%s", (_, cell) => {
  const rows = FEATURES.map((feature) => ({ ...feature, gap: feature.gap?.(cell) }));
  let peer: Peer;

  beforeAll(async () => {
    peer = await world.connect(cell);
  });

  const seen = rows.flatMap(({ name, see, gap }) => (gap === undefined ? [[name, see] as const] : []));
  it.each(seen)("CL-2 GR-7 %s", async (_name, see) => {
    expect.hasAssertions();
    await see(peer);
  });

  const gaps = rows.flatMap(({ name, see, gap }) => (gap === undefined ? [] : [[name, reasonOf(gap), see] as const]));
  it.each(gaps)("CL-2 GR-7 %s: not here (%s)", async (_name, _why, see) => {
    await expect(see(peer), "It works: strike out the gap").rejects.toThrow();
  });
});

const closed = ways.flatMap(({ name, gap }) => (gap === undefined ? [] : [[name, reasonOf(gap)] as const]));
it.each(closed)("CL-2 %s: %s", (_name, why) => {
  expect(why).toMatch(/^impossible: /);
});
