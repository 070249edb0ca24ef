// Renews the tokens of one login: one renewal at a time in this process and across processes, saved before anyone uses them.
// A login ends only if the authorization server says so; every other failure is tried again.

import type { RefreshGrant } from "./oauth-client.ts";
import type { LoginKey, LoginRecord, LoginSlot, LoginStore } from "../../secrets/login-store.ts";
import { TokenEndpointError } from "../../oauth/token-endpoint.ts";
import type { TokenSet } from "../../oauth/types.ts";
import type { Clock } from "./clock.ts";

export type Renewed =
  /** By this call, or by another process in the meantime. */
  | { readonly outcome: "renewed"; readonly record: LoginRecord; readonly byUs: boolean }
  /** There is no login any more. */
  | { readonly outcome: "gone" }
  /** The authorization server ended it. The access token may be used until it expires. */
  | { readonly outcome: "ended"; readonly record: LoginRecord; readonly code: string }
  /** The authorization server does not accept the client or the request. */
  | { readonly outcome: "refused"; readonly record: LoginRecord; readonly error: TokenEndpointError };

export interface RenewalParts {
  readonly store: LoginStore;
  readonly key: LoginKey;
  readonly clock: Clock;
  /** Sends one refresh token. Rejects with TokenEndpointError. */
  readonly refresh: RefreshGrant;
}

/** `seen`: the generation that the caller knows. Rejects if the failure is transient: the login stays as it is. */
export function renew({ store, key, clock, refresh }: RenewalParts, seen: number): Promise<Renewed> {
  return store.edit(key, async (slot) => {
    const record = await slot.read();
    if (record === undefined) return { outcome: "gone" };
    if (record.generation !== seen) return { outcome: "renewed", record, byUs: false };
    if (record.refresh === undefined) return { outcome: "ended", record, code: record.ended ?? "no_refresh_token" };
    // If this process is killed before the answer is saved, the next one knows that the token may be used up.
    await slot.write({ ...record, sentAt: clock.now() });
    try {
      const tokens = await refreshOnce(record, refresh);
      const renewed = withTokens(record, tokens, clock);
      await slot.write(renewed);
      return { outcome: "renewed", record: renewed, byUs: true };
    } catch (error) {
      if (!(error instanceof TokenEndpointError)) throw error;
      return settle(slot, record, error);
    }
  });
}

/** With the previous token too, if it is unknown whether the current one was used up by a renewal whose answer was lost. */
async function refreshOnce(record: LoginRecord, refresh: RefreshGrant): Promise<TokenSet> {
  const { refresh: current = "", previous, sentAt } = record;
  try {
    return await refresh(record, current);
  } catch (error) {
    const mayBeUsedUp = sentAt !== undefined && previous !== undefined && previous !== current;
    if (!mayBeUsedUp || !isRefused(error, ENDED)) throw error;
    return refresh(record, previous);
  }
}

async function settle(slot: LoginSlot, record: LoginRecord, error: TokenEndpointError): Promise<Renewed> {
  const { failure } = error;
  // `sentAt` stays: the authorization server may have processed the request.
  if (failure.type === "transient") throw error;
  const { sentAt: _, ...known } = record;
  if (ENDED.has(failure.code)) {
    const { refresh: __, previous: ___, ...rest } = known;
    const ended = { ...rest, ended: failure.code };
    await slot.write(ended);
    return { outcome: "ended", record: ended, code: failure.code };
  }
  if (CLIENT_GONE.has(failure.code) && record.client.how === "registered") await slot.delete();
  else await slot.write(known);
  return { outcome: "refused", record: known, error };
}

/** The record of a login after new tokens came. */
export function withTokens(record: LoginRecord, tokens: TokenSet, clock: Clock): LoginRecord {
  const { sentAt: _, expiresIn: __, ended: ___, previous: ____, ...kept } = record;
  const refresh = tokens.refresh ?? record.refresh;
  const previous = tokens.refresh === undefined ? record.previous : record.refresh;
  return {
    ...kept,
    access: tokens.access,
    type: tokens.type,
    receivedAt: clock.now(),
    generation: record.generation + 1,
    ...(tokens.expiresIn === undefined ? {} : { expiresIn: tokens.expiresIn }),
    ...(refresh === undefined ? {} : { refresh }),
    ...(previous === undefined ? {} : { previous }),
    ...(tokens.scope === undefined ? {} : { scope: tokens.scope }),
    ...(tokens.account === undefined ? {} : { account: tokens.account }),
  };
}

function isRefused(error: unknown, codes: ReadonlySet<string>): boolean {
  return error instanceof TokenEndpointError && error.failure.type === "refused" && codes.has(error.failure.code);
}

const ENDED: ReadonlySet<string> = new Set(["invalid_grant", "invalid_dpop_proof"]);
const CLIENT_GONE: ReadonlySet<string> = new Set(["invalid_client", "unauthorized_client"]);
