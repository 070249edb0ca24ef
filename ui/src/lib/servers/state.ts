// The state of a server or a call as it is shown: a shape, a word and a colour, chosen in this one place.

import type { Call } from "$api/call.ts";
import type { Server } from "$api/server.ts";
import { ms } from "../text/format.ts";
import { states } from "../../text/common.ts";

export type Shape =
  | "disc"
  | "ring-part"
  | "half"
  | "dashed"
  | "triangle"
  | "cross"
  | "broken"
  | "square"
  | "ring"
  | "check"
  | "dash";
export type Tone = "ok" | "info" | "warn" | "err" | "faint";

export interface Shown {
  readonly shape: Shape;
  readonly tone: Tone;
  readonly word: string;
}

export type StateOfServer = Pick<Server, "status" | "stage" | "circuit" | "next_try" | "since"> & {
  readonly error?: Server["error"];
};

/** `now` counts the seconds of a start or to the next try. */
export function serverState(server: StateOfServer, now: number): Shown {
  const { status, stage, circuit, next_try: next, since, error } = server;
  const left = next === null ? undefined : Math.max(0, Date.parse(next.at) - now);
  if (status === "running" && circuit === "half-open") return shown("half", "warn", states.testing);
  if (status === "running" && circuit === "open") return shown("dashed", "warn", states.paused(left));
  switch (status) {
    case "running":
      return shown("disc", "ok", states.running);
    case "starting": {
      const elapsed = since === null ? undefined : Math.max(0, now - Date.parse(since));
      return shown("ring-part", "info", states.starting(stage, elapsed === undefined ? undefined : ms(elapsed)));
    }
    case "unauthenticated":
      return shown("triangle", "warn", states.needsLogin);
    case "error":
      if (error?.kind === "ApprovalRequired") return shown("triangle", "warn", states.needsApproval);
      return shown("cross", "err", states.error);
    case "disconnected":
      return shown("broken", "err", states.lost(left));
    case "stopped":
      return shown("square", "faint", states.stopped);
    case "disabled":
      return shown("ring", "faint", states.off);
  }
}

type OnFirstPage = Pick<Server, "status" | "circuit"> & { readonly approval?: Pick<Server["approval"], "withheld"> };

/** Broken, or waiting for a person: it belongs on the first page. */
export function needsAttention({ status, circuit, approval }: OnFirstPage): boolean {
  if (status !== "disabled" && (approval?.withheld ?? 0) > 0) return true;
  if (status === "error" || status === "unauthenticated" || status === "disconnected") return true;
  return status === "running" && circuit === "open";
}

export function callState(outcome: Call["outcome"] | "running", elapsedMs?: number): Shown {
  switch (outcome) {
    case "running":
      return shown("ring-part", "info", states.callRunning(elapsedMs === undefined ? undefined : ms(elapsedMs)));
    case "ok":
      return shown("check", "ok", states.ok);
    case "tool_error":
      return shown("cross", "err", states.tool_error);
    case "failed":
      return shown("cross", "err", states.failed);
    case "cancelled":
      return shown("dash", "faint", states.cancelled);
    case "refused":
      return shown("cross", "warn", states.refused);
  }
}

function shown(shape: Shape, tone: Tone, word: string): Shown {
  return { shape, tone, word };
}
