// What the protocol library reads and writes, kept where the hub keeps such things: access tokens with those that people make, so
// that they end, expire and are seen in the same way; clients, logins and refresh tokens in the store; the rest, which lasts
// minutes, in memory. Tokens are kept as digests.

import { hash, randomUUID } from "node:crypto";
import type { Adapter, AdapterPayload } from "oidc-provider";
import type { AccessTokens } from "../access-tokens.ts";
import { startOf } from "../access-token.ts";
import type { AuditedBy } from "../audit.ts";
import { digestOfSecret } from "./client-secret.ts";
import { MAX_UNUSED_CLIENTS, type ClientLogin, type IssuerStore } from "./issuer-store.ts";
import { isProgram, loginOfProgram } from "./programs.ts";
import { ShortLived } from "./short-lived.ts";

export interface StorageOptions {
  readonly tokens: Pick<AccessTokens, "addIssued" | "findIssued" | "endIssued">;
  readonly store: () => Promise<IssuerStore>;
  /** The address that the current request comes from. */
  readonly source: () => string;
  /** The group whose endpoint is the audience; undefined: any. */
  readonly groupOf: (audience: string) => string | undefined;
  /** A client is looked for. May throw an error of the library, which is the answer then. */
  readonly onClient: (id: string) => void;
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
      case "ClientCredentials":
        return this.#programTokens();
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

  /** Whether a program has access to a group. */
  async isOpenTo(program: string, group: string): Promise<boolean> {
    const found = await (await this.#options.store()).findLogin(loginOfProgram(program));
    return found?.login.groups.includes(group) === true;
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
    const { tokens, store } = this.#options;
    return {
      ...NOT_USED,
      upsert: async (token, { exp = 0, grantId = "" }) => {
        const found = await (await store()).findLogin(grantId);
        if (found === undefined) throw new Error("An access token without a login");
        await this.#addToken(token, found.login, exp * 1000);
      },
      find: async (token) => {
        const stored = tokens.findIssued(digestOf(token));
        if (stored?.issued === undefined || isProgram(stored.issued.client)) return undefined;
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

  /** Ending one does not end the access of the program, as ending that of a person's client does. */
  #programTokens(): Adapter {
    const { tokens, store, groupOf } = this.#options;
    return {
      ...NOT_USED,
      upsert: async (token, { clientId = "", exp = 0, aud, scope }) => {
        const opened = await store();
        const found = await opened.findLogin(loginOfProgram(clientId));
        if (found === undefined) throw new Error("A token of a program without access");
        const { login } = found;
        const group = typeof aud === "string" ? groupOf(aud) : undefined;
        const limited = {
          ...login,
          groups: group === undefined ? login.groups : login.groups.filter((name) => name === group),
          readOnly: login.readOnly || scope === "mcp:read",
        };
        await this.#addToken(token, limited, exp * 1000);
        await opened.usedLogin(login.id);
      },
      find: async (token) => {
        const stored = tokens.findIssued(digestOf(token));
        if (stored?.issued === undefined || !isProgram(stored.issued.client)) return undefined;
        const { createdAt, expiresAt = 0, issued } = stored;
        return {
          kind: "ClientCredentials",
          jti: token,
          clientId: issued.client,
          iat: Math.floor(createdAt / 1000),
          exp: Math.floor(expiresAt / 1000),
        };
      },
      destroy: async (token) => tokens.endIssued({ digest: digestOf(token) }, "client"),
    };
  }

  async #addToken(token: string, login: ClientLogin, expiresAt: number): Promise<void> {
    const { tokens, now } = this.#options;
    await tokens.addIssued({
      id: randomUUID(),
      digest: digestOf(token),
      start: startOf(token),
      name: login.clientName,
      principal: login.principal,
      role: "user",
      groups: login.groups,
      readOnly: login.readOnly,
      createdAt: now(),
      createdBy: login.principal,
      expiresAt: Math.min(expiresAt, login.expiresAt),
      usedAt: undefined,
      usedFrom: undefined,
      issued: { login: login.id, client: login.client },
    });
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
    const { store, source, onEvent, onClient, now } = this.#options;
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
        onClient(id);
        const opened = await store();
        const found = await opened.findClient(id);
        if (found === undefined) return undefined;
        // The access of a program ends with its login.
        if (isProgram(id) && (await opened.findLogin(loginOfProgram(id))) === undefined) return undefined;
        return { ...found.metadata };
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

function withoutToken({ jti: _jti, ...payload }: AdapterPayload): AdapterPayload {
  return payload;
}

function withoutSecret({ client_secret: secret, ...metadata }: AdapterPayload): AdapterPayload {
  return typeof secret === "string" ? { ...metadata, client_secret: digestOfSecret(secret) } : metadata;
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
