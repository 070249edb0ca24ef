import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { CircuitBreaker } from "./breaker.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function open() {
  const probes: { resolve: () => void; reject: (error: Error) => void }[] = [];
  const changes: string[] = [];
  const circuit = new CircuitBreaker({
    server: "slack",
    limits: () => ({ failures: 3, cooldownMs: 60_000 }),
    probe: () => new Promise((resolve, reject) => void probes.push({ resolve, reject })),
    onChange: ({ state }) => void changes.push(state),
  });
  for (let count = 0; count < 3; count++) circuit.failed();
  return { circuit, probes, changes };
}

describe("RS-2 the circuit", () => {
  it("RS-2 refuses calls at once while it is open, with the time left", () => {
    const { circuit } = open();
    vi.advanceTimersByTime(19_000);
    expect(() => circuit.admit()).toThrow(
      expect.objectContaining({ kind: "CircuitOpen", code: "SERVICE_UNAVAILABLE", retryAfterMs: 41_000 }),
    );
  });

  it("RS-2 sends one probe at the end of the cooldown, and calls are still refused", () => {
    const { circuit, probes } = open();
    vi.advanceTimersByTime(59_999);
    expect(probes).toHaveLength(0);
    vi.advanceTimersByTime(1);
    expect(probes).toHaveLength(1);
    expect(() => circuit.admit()).toThrow(expect.objectContaining({ kind: "CircuitOpen", retryAfterMs: 0 }));
    vi.advanceTimersByTime(600_000);
    expect(probes).toHaveLength(1);
  });

  it("RS-2 closes when the probe succeeds", async () => {
    const { circuit, probes, changes } = open();
    vi.advanceTimersByTime(60_000);
    probes[0]?.resolve();
    await vi.advanceTimersByTimeAsync(0);
    expect(() => circuit.admit()).not.toThrow();
    expect(changes).toEqual(["open", "half-open", "closed"]);
  });

  it("RS-2 a failed probe begins another cooldown", async () => {
    const { circuit, probes, changes } = open();
    vi.advanceTimersByTime(60_000);
    probes[0]?.reject(new Error("still down"));
    await vi.advanceTimersByTimeAsync(59_999);
    expect(() => circuit.admit()).toThrow();
    expect(probes).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(1);
    expect(probes).toHaveLength(2);
    expect(changes).toEqual(["open", "half-open", "open", "half-open"]);
  });

  it("RS-2 leaves no timer behind when it is reset", () => {
    const { circuit } = open();
    circuit.reset();
    expect(vi.getTimerCount()).toBe(0);
    expect(() => circuit.admit()).not.toThrow();
  });
});
