// The status of a managed server as a pure state machine.

import type { ErrorBody } from "../errors.ts";

/**
 * `queued`: its package waits for other installs. `installing`: by the hub. `downloading`: by the launcher (uvx, docker).
 */
export type Stage = "resolving" | "queued" | "installing" | "launching" | "downloading" | "handshake" | "listing";

export type Status =
  | { readonly state: "disabled" }
  | { readonly state: "stopped" }
  | { readonly state: "starting"; readonly stage: Stage; readonly since: number }
  | { readonly state: "running"; readonly tools: readonly string[]; readonly since: number }
  /** Did not start, or its process ended. */
  | { readonly state: "error"; readonly error: ErrorBody; readonly since: number }
  /** The connection to a remote server is lost. */
  | { readonly state: "disconnected"; readonly error: ErrorBody; readonly since: number }
  /** A remote server refuses our credentials. */
  | { readonly state: "unauthenticated"; readonly error: ErrorBody; readonly since: number };

export type StatusEvent =
  | { readonly type: "start"; readonly at: number }
  | { readonly type: "stage"; readonly stage: Stage }
  | { readonly type: "ready"; readonly tools: readonly string[]; readonly at: number }
  | { readonly type: "listed"; readonly tools: readonly string[] }
  | { readonly type: "failed"; readonly error: ErrorBody; readonly at: number }
  | { readonly type: "lost"; readonly error: ErrorBody; readonly at: number }
  | { readonly type: "refused"; readonly error: ErrorBody; readonly at: number }
  | { readonly type: "stopped" }
  | { readonly type: "disabled" }
  | { readonly type: "enabled" };

/** The status after an event. The same object if the event does not apply in this state. */
export function nextStatus(status: Status, event: StatusEvent): Status {
  switch (event.type) {
    case "start":
      if (status.state === "disabled" || status.state === "starting" || status.state === "running") return status;
      return { state: "starting", stage: "resolving", since: event.at };
    case "stage":
      return status.state === "starting" ? { ...status, stage: event.stage } : status;
    case "ready":
      return status.state === "starting" ? { state: "running", tools: event.tools, since: event.at } : status;
    case "listed":
      return status.state === "running" ? { ...status, tools: event.tools } : status;
    case "failed":
      if (status.state !== "starting" && status.state !== "running") return status;
      return { state: "error", error: event.error, since: event.at };
    case "lost":
      // Also from "starting": a failed attempt to reconnect leaves the server disconnected.
      if (status.state !== "running" && status.state !== "starting") return status;
      return { state: "disconnected", error: event.error, since: event.at };
    case "refused":
      if (status.state !== "running" && status.state !== "starting") return status;
      return { state: "unauthenticated", error: event.error, since: event.at };
    case "stopped":
      return status.state === "disabled" || status.state === "stopped" ? status : { state: "stopped" };
    case "disabled":
      return status.state === "disabled" ? status : { state: "disabled" };
    case "enabled":
      return status.state === "disabled" ? { state: "stopped" } : status;
  }
}

/** The reason of a failure. It contains no secrets: text of the server is redacted when it arrives. */
export function errorOf(status: Status): ErrorBody | null {
  return "error" in status ? status.error : null;
}

/** A person has to see what it would run. */
export function isWaitingForApproval(status: Status): boolean {
  return errorOf(status)?.kind === "ApprovalRequired";
}

/** Enabled but not working. */
export function isBroken(state: string): boolean {
  return state === "error" || state === "disconnected" || state === "unauthenticated";
}

/** It may work once a secret is stored, or somebody has logged in. */
export function isWaitingForCredentials(status: Status): boolean {
  return status.state === "unauthenticated" || (status.state === "error" && status.error.kind === "InvalidConfig");
}
