// Sealed states: round trip, and refusal of everything else.

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { SealedState } from "./sealed-state.ts";

describe("SealedState", () => {
  const seal = new SealedState();
  const content = { id: "x", principal: "ü", expiresAt: 1 };

  it("GR-7 opens to what was sealed, reveals nothing, and differs every time", () => {
    const states = Array.from({ length: 50 }, () => seal.seal(content));
    expect(new Set(states).size).toBe(50);
    for (const state of states) {
      expect(seal.open(state)).toEqual(content);
      expect(state).toMatch(/^plugboard\.[\w-]+$/);
      expect(Buffer.from(state.slice("plugboard.".length), "base64url").includes("principal")).toBe(false);
    }
  });

  it("GR-7 SE-5 refuses a state with any changed character", () => {
    const state = seal.seal(content);
    for (let at = 0; at < state.length; at++) {
      for (const other of ["A", "b", "_", "=", "."]) {
        const changed = state.slice(0, at) + other + state.slice(at + 1);
        if (changed !== state) expect([changed, seal.open(changed)]).toEqual([changed, undefined]);
      }
    }
    for (let length = 0; length < state.length; length++) expect(seal.open(state.slice(0, length))).toBeUndefined();
    for (const more of ["A", "AAAA", "=", " ", "\n"]) expect(seal.open(state + more)).toBeUndefined();
  });

  it("GR-7 refuses states of other keys: of another group, or from before a restart", () => {
    expect(seal.open(new SealedState().seal(content))).toBeUndefined();
  });

  it("SE-5 refuses any other text", () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.base64String().map((text) => `plugboard.${text}`),
        ),
        (text) => {
          expect(seal.open(text)).toBeUndefined();
        },
      ),
    );
    expect(seal.open(`plugboard.${"A".repeat(1 << 20)}`)).toBeUndefined();
  });
});
