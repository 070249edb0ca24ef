// Everything that a hub carries, between clients and servers of both eras, over every transport, with official SDKs on both
// sides. A cell that cannot be seen says why: the protocol has no such thing, or the hub does not have it yet.

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { CELLS, nameOf, transportGap } from "../support/matrix/cell.ts";
import { FEATURES } from "../support/matrix/features.ts";
import type { Peer } from "../support/matrix/peer.ts";
import { createWorld, type World } from "../support/matrix/world.ts";

let world: World;

beforeAll(async () => {
  world = await createWorld();
});

afterAll(() => world?.end());

describe.each(CELLS.map((cell) => [nameOf(cell), cell] as const))("%s", (_, cell) => {
  const noWay = transportGap(cell);
  if (noWay !== undefined) {
    it.skip(`CL-2 GR-7 ${"impossible" in noWay ? `impossible: ${noWay.impossible}` : `missing: ${noWay.missing}`}`);
    return;
  }
  let peer: Peer;

  beforeAll(async () => {
    peer = await world.connect(cell);
  });

  for (const { name, gap, see } of FEATURES) {
    const why = gap?.(cell);
    if (why === undefined) it(`CL-2 GR-7 ${name}`, () => see(peer));
    else if ("impossible" in why) it.skip(`CL-2 GR-7 ${name} (impossible: ${why.impossible})`);
    else {
      it(`CL-2 GR-7 ${name} (missing: ${why.missing})`, () =>
        expect(see(peer), "It works now: strike out the gap").rejects.toThrow());
    }
  }
});
