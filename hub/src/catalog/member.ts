// One server as a member of groups: its state and what it offers.
import { maxResultBytes } from "../config/schema/call-rules.ts";
import type { ServerConfig } from "../config/schema/types.ts";
import { HubError } from "../errors.ts";
import type { ServerListing } from "./listing.ts";
import { NO_OFFERS, readOffers } from "./offers.ts";
import type { Offers } from "./offers.ts";
import { quote } from "./quote.ts";

/** `down`: has its last listing. `unlisted`: has not been up since the hub started. */
type MemberState = "running" | "down" | "unlisted" | "disabled";

export interface Member {
  readonly server: string;
  readonly state: MemberState;
  readonly offers: Offers;
  /** How large its results may be, in bytes. */
  readonly maxResultBytes?: number | undefined;
}

export function createMember({ name, enabled, results }: ServerConfig, listed: ServerListing | undefined): Member {
  const base = { server: name, maxResultBytes: maxResultBytes(results) };
  if (!enabled) return { ...base, state: "disabled", offers: NO_OFFERS };
  if (listed === undefined) return { ...base, state: "unlisted", offers: NO_OFFERS };
  const { listing, withheld, available } = listed;
  return { ...base, state: available ? "running" : "down", offers: readOffers(listing, withheld) };
}

/** Has no listing, so an unknown name may belong to it. */
export function isUnknown({ state }: Member): boolean {
  return state === "unlisted" || state === "disabled";
}

export function requireRunning(member: Member): void {
  if (member.state !== "running") throw unavailable(member);
}

export function unavailable({ server, state }: Member): HubError {
  const reason = state === "disabled" ? "is disabled" : "is not running";
  return new HubError("ServerNotRunning", "Server unavailable", { detail: `Server ${quote(server)} ${reason}` });
}
