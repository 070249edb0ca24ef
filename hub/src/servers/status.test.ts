import { describe, expect, it } from "vitest";
import { nextStatus, type Status, type StatusEvent } from "./status.ts";

const error = { code: "NETWORK_ERROR", kind: "Timeout", message: "Handshake timed out" } as const;

const STATES: Record<Status["state"], Status> = {
  disabled: { state: "disabled" },
  stopped: { state: "stopped" },
  starting: { state: "starting", stage: "launching", since: 1 },
  running: { state: "running", tools: ["a"], since: 1 },
  error: { state: "error", error, since: 1 },
  disconnected: { state: "disconnected", error, since: 1 },
  unauthenticated: { state: "unauthenticated", error, since: 1 },
};

const EVENTS: Record<StatusEvent["type"], StatusEvent> = {
  start: { type: "start", at: 2 },
  stage: { type: "stage", stage: "handshake" },
  ready: { type: "ready", tools: ["b"], at: 2 },
  listed: { type: "listed", tools: ["b", "c"] },
  failed: { type: "failed", error, at: 2 },
  lost: { type: "lost", error, at: 2 },
  refused: { type: "refused", error, at: 2 },
  stopped: { type: "stopped" },
  disabled: { type: "disabled" },
  enabled: { type: "enabled" },
};

/** Every valid pair of state and event, with the next state. Other events change nothing. */
const TABLE: Record<StatusEvent["type"], Partial<Record<Status["state"], Status>>> = {
  start: {
    stopped: { state: "starting", stage: "resolving", since: 2 },
    error: { state: "starting", stage: "resolving", since: 2 },
    disconnected: { state: "starting", stage: "resolving", since: 2 },
    unauthenticated: { state: "starting", stage: "resolving", since: 2 },
  },
  stage: { starting: { state: "starting", stage: "handshake", since: 1 } },
  ready: { starting: { state: "running", tools: ["b"], since: 2 } },
  listed: { running: { state: "running", tools: ["b", "c"], since: 1 } },
  failed: {
    starting: { state: "error", error, since: 2 },
    running: { state: "error", error, since: 2 },
  },
  lost: {
    starting: { state: "disconnected", error, since: 2 },
    running: { state: "disconnected", error, since: 2 },
  },
  refused: {
    starting: { state: "unauthenticated", error, since: 2 },
    running: { state: "unauthenticated", error, since: 2 },
  },
  stopped: {
    starting: { state: "stopped" },
    running: { state: "stopped" },
    error: { state: "stopped" },
    disconnected: { state: "stopped" },
    unauthenticated: { state: "stopped" },
  },
  disabled: {
    stopped: { state: "disabled" },
    starting: { state: "disabled" },
    running: { state: "disabled" },
    error: { state: "disabled" },
    disconnected: { state: "disabled" },
    unauthenticated: { state: "disabled" },
  },
  enabled: { disabled: { state: "stopped" } },
};

describe.each(Object.values(EVENTS))("$type", (event) => {
  it.each(Object.values(STATES))("LC-1 in the state $state", (status) => {
    const expected = TABLE[event.type][status.state];
    if (expected === undefined) expect(nextStatus(status, event)).toBe(status);
    else expect(nextStatus(status, event)).toEqual(expected);
  });
});

it("MC-NT1 a disabled server cannot be made to start, run or fail", () => {
  const after = Object.values(EVENTS)
    .filter(({ type }) => type !== "enabled")
    .reduce(nextStatus, STATES.disabled);
  expect(after).toBe(STATES.disabled);
});
