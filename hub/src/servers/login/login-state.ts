// The state of a login at one server.

import type { HubError } from "../../errors.ts";

export type LoginEventName =
  | "required"
  | "started"
  | "completed"
  | "failed"
  | "renewed"
  | "retrying"
  | "expired"
  | "revoked";

/** The required action of a person or the authorization server before requests can succeed. */
export type LoginState =
  | { readonly state: "none" }
  | { readonly state: "connected" }
  | { readonly state: "needs_login"; readonly error: HubError }
  /** The authorization server cannot be reached. `error`: why. */
  | { readonly state: "retrying"; readonly error: HubError; readonly attempts: number; readonly until: number };
