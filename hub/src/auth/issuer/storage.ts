// What the protocol library reads and writes, kept where the hub keeps such things: access tokens with those that people make, so
// that they end, expire and are seen in the same way; clients, logins and refresh tokens in the store; the rest, which lasts
// minutes, in memory. Tokens are kept as digests.

import { hash, randomUUID } from "node:crypto";
import type { Adapter, AdapterPayload } from "oidc-provider";
import type { AccessTokens } from "../access-tokens.ts";
import { startOf } from "../access-token.ts";
import type { AuditedBy } from "../audit.ts";
import type { ClientLogin, IssuerStore } from "./issuer-store.ts";
import { ShortLived } from "./short-lived.ts";

export interface StorageOptions {
  readonly tokens: Pick<AccessTokens, "addIssued" | "findIssued" | "endIssued">;
  readonly store: () => Promise<IssuerStore>;
  /** The address that the current request comes from. */
  readonly source: () => string;
  /** Resolves when it is recorded. */
  readonly onEvent: (event: StorageEvent) => Promise<void>;
  readonly now: () => number;
}

/** What clients do by themselves. */
export type StorageEvent = { readonly by: AuditedBy } & (
  | { readonly what: "consent.revoked"; readonly login: ClientLogin }
  | { readonly what: "client.registered"; readonly client: string; readonly name: string }
);

/** A refresh token may be used again for so long: its answer may have been lost, or two processes of the client share it. */
export const REFRESH_GRACE_MS = 60_000;
/** More clients than these that were never used for a login are not kept. */
const MAX_UNUSED_CLIENTS = 500;
/** Of interactions and sessions, of all people together. */
const MAX_SHORT_LIVED = 2000;

export class Storage {
  readonly #options: StorageOptions;
  readonly #shortLived: ShortLived;

  constructor(options: StorageOptions) {
    this.#options = options;
    this.#shortLived = new ShortLived(MAX_SHORT_LIVED, options.now);
  }

  adapter(model: string): Adapter {
    switch (model) {
      case "AccessToken":
        return this.#accessTokens();
      case "RefreshToken":
        return this.#refreshTokens();
      case "Client":
        return this.#clients();
      case "Grant":
        return this.#logins();
      case "Session":
        return this.#sessions();
      default:
        return this.#shortLived.adapter(model);
    }
  }

  /** Without the person: each request is consented to by whoever signs in for it, who may be another one than before. */
  #sessions(): Adapter {
    const adapter = this.#shortLived.adapter("Session");
    return {
      ...adapter,
      upsert: (id, { accountId: _account, loginTs: _at, authorizations: _given, ...session }, expiresIn) =>
        adapter.upsert(id, session, expiresIn),
    };
  }

  #accessTokens(): Adapter {
    const { tokens, store, now } = this.#options;
    return {
      ...NOT_USED,
      upsert: async (token, { exp = 0, grantId = "" }) => {
        const found = await (await store()).findLogin(grantId);
        if (found === undefined) throw new Error("An access token without a login");
        const { id, client, clientName, principal, groups, readOnly, expiresAt } = found.login;
        await tokens.addIssued({
          id: randomUUID(),
          digest: digestOf(token),
          start: startOf(token),
          name: clientName,
          principal,
          role: "user",
          groups,
          readOnly,
          createdAt: now(),
          createdBy: principal,
          expiresAt: Math.min(exp * 1000, expiresAt),
          usedAt: undefined,
          usedFrom: undefined,
          issued: { login: id, client },
        });
      },
      find: async (token) => {
        const stored = tokens.findIssued(digestOf(token));
        if (stored?.issued === undefined) return undefined;
        const { principal, createdAt, expiresAt = 0, issued } = stored;
        return {
          kind: "AccessToken",
          jti: token,
          accountId: principal,
          clientId: issued.client,
          grantId: issued.login,
          iat: Math.floor(createdAt / 1000),
          exp: Math.floor(expiresAt / 1000),
        };
      },
      destroy: async (token) => tokens.endIssued({ digest: digestOf(token) }, "client"),
      revokeByGrantId: async (login) => tokens.endIssued({ login }, "client"),
    };
  }

  #refreshTokens(): Adapter {
    const { store, now } = this.#options;
    return {
      ...NOT_USED,
      upsert: async (token, record) => {
        const payload = withoutToken(record);
        const { grantId = "", exp = 0 } = payload;
        await (await store()).addRefreshToken(digestOf(token), grantId, payload, exp * 1000);
      },
      find: async (token) => {
        const found = await (await store()).findRefreshToken(digestOf(token));
        if (found === undefined) return undefined;
        const { usedAt, payload } = found;
        const isOver = usedAt !== undefined && now() - usedAt >= REFRESH_GRACE_MS;
        return { ...payload, jti: token, ...(isOver ? { consumed: Math.floor(usedAt / 1000) } : {}) };
      },
      consume: async (token) => (await store()).useRefreshToken(digestOf(token)),
      destroy: async (token) => (await store()).removeRefreshToken(digestOf(token)),
      revokeByGrantId: async (login) => (await store()).removeRefreshTokensOf(login),
    };
  }

  #clients(): Adapter {
    const { store, source, onEvent, now } = this.#options;
    return {
      ...NOT_USED,
      upsert: async (id, metadata) => {
        const name = metadata["client_name"];
        const by = { principal: "anonymous", client: id };
        await onEvent({ what: "client.registered", by, client: id, name: typeof name === "string" ? name : "" });
        const client = { id, metadata: withoutSecret(metadata), createdAt: now(), createdFrom: source() };
        await (await store()).addClient({ ...client, usedAt: undefined }, MAX_UNUSED_CLIENTS);
      },
      find: async (id) => {
        const found = await (await store()).findClient(id);
        return found === undefined ? undefined : { ...found.metadata };
      },
    };
  }

  #logins(): Adapter {
    const { store, onEvent } = this.#options;
    return {
      ...NOT_USED,
      upsert: async (id, record) => (await store()).keepPayload(id, withoutToken(record)),
      find: async (id) => {
        const found = await (await store()).findLogin(id);
        return found?.payload === undefined ? undefined : { ...found.payload, jti: id };
      },
      // The client ends it, or has used a code or refresh token that somebody else may have.
      destroy: async (id) => {
        const found = await (await store()).findLogin(id);
        if (found === undefined) return;
        const { principal, client } = found.login;
        await onEvent({ what: "consent.revoked", login: found.login, by: { principal, client } });
        await (await store()).revokeLogin(id, "client");
      },
    };
  }
}

/** Whether a client has presented its secret: only a digest of it is kept. */
export function isSecret(presented: unknown, kept: unknown): boolean {
  return typeof presented === "string" && kept === digestOf(presented);
}

function withoutToken({ jti: _jti, ...payload }: AdapterPayload): AdapterPayload {
  return payload;
}

function withoutSecret({ client_secret: secret, ...metadata }: AdapterPayload): AdapterPayload {
  return typeof secret === "string" ? { ...metadata, client_secret: digestOf(secret) } : metadata;
}

function digestOf(token: string): string {
  return hash("sha256", token, "base64");
}

async function notUsed(): Promise<undefined> {
  return undefined;
}

/** What the library asks only of other models. */
const NOT_USED = {
  find: notUsed,
  findByUid: notUsed,
  findByUserCode: notUsed,
  consume: notUsed,
  destroy: notUsed,
  revokeByGrantId: notUsed,
} as const;
