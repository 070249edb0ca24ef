// OAuth clients that use the hub: people approve their requests, see what was given, and end it.

import type { WaitingRequest } from "../../../auth/issuer/access-requests.ts";
import type { Issuer, LoginUse } from "../../../auth/issuer/issuer.ts";
import type { Grant } from "../../../auth/grant.ts";
import { requireTokenName } from "../../../auth/access-tokens.ts";
import { ROUTES } from "../../../auth/issuer/paths.ts";
import { may } from "../../../auth/policy.ts";
import { servicePrincipal } from "../../../auth/users.ts";
import { HubError } from "../../../errors.ts";
import type { AccessRequestView, ClientGrant, ClientGrantInput, NewClientGrant } from "../../schemas/oauth.ts";
import type { Managed } from "../core.ts";
import { requireGroup } from "./open-group.ts";

export class OAuthCommands {
  readonly #managed: Managed;

  constructor(managed: Managed) {
    this.#managed = managed;
  }

  request(code: string): AccessRequestView {
    return toRequest(this.#issuer().requestOf(code));
  }

  /** The browser that shows the code is signed in as the caller. */
  approve(code: string, grant: Grant): AccessRequestView {
    // What a token may do is limited, in time too; what it could have approved would not be.
    if (grant.kind !== "owner" && grant.kind !== "session") {
      throw new HubError("Forbidden", "A token cannot sign a browser in", {
        hint: "Approve the code in the web interface, or run `plugboard approve` on the computer of the hub",
      });
    }
    return toRequest(this.#issuer().approve(code, grant));
  }

  /** Those that the caller may see. */
  async grants(grant: Grant): Promise<ClientGrant[]> {
    const logins = (await this.#managed.hub.issuer?.logins()) ?? [];
    return logins.filter((login) => isFor(login, grant)).map(toGrant);
  }

  /** The credentials are in the answer only. */
  async addProgram(input: ClientGrantInput, maker: Grant): Promise<NewClientGrant> {
    const { name, groups, read_only: readOnly = false, public_key: publicKey } = input;
    const { hub } = this.#managed;
    const issuer = this.#issuer();
    requireTokenName(name);
    const principal = servicePrincipal(name);
    for (const group of groups) requireGroup(hub, group, maker, { principal, role: "user" });
    const expiresAt = Math.round(Date.now() + (input.expires_in_days ?? DEFAULT_DAYS) * DAY_MS);
    const given = { name, principal, groups: [...new Set(groups)], readOnly, expiresAt, publicKey };
    const { login, secret } = await issuer.addProgram(given);
    const { publicUrl } = hub;
    return {
      ...toGrant({ ...login, usedFrom: undefined }),
      client_secret: secret ?? null,
      token_url: publicUrl === undefined ? null : `${publicUrl}${ROUTES.token}`,
    };
  }

  async revoke(id: string, grant: Grant): Promise<void> {
    const issuer = this.#issuer();
    const own = (await issuer.logins()).filter((login) => isFor(login, grant));
    const found = own.filter((login) => login.id === id || (id.length >= SHORTEST && login.id.startsWith(id)));
    const [login] = found;
    if (login === undefined || found.length > 1) {
      throw new HubError("GrantNotFound", `No client has access under the id ${JSON.stringify(id)}`, {
        hint: "plugboard grant ls",
      });
    }
    await issuer.revoke(login, grant);
  }

  #issuer(): Issuer {
    const { issuer } = this.#managed.hub;
    if (issuer !== undefined) return issuer;
    throw new HubError("Conflict", "OAuth clients cannot log in at this hub", {
      hint: 'Set "auth": {"server": {"enabled": true}} in hub.json, and restart the hub',
    });
  }
}

const DAY_MS = 86_400_000;
const DEFAULT_DAYS = 365;

/** Of an id: as `plugboard grant ls` shows it. */
const SHORTEST = 8;

function isFor({ principal }: LoginUse, grant: Grant): boolean {
  return may(grant, { to: "handle", owner: principal, as: "admin" });
}

function toRequest({ request, code, expiresAt, signedIn }: WaitingRequest): AccessRequestView {
  return {
    code,
    client_id: request.clientId,
    client_name: request.clientName === "" ? null : request.clientName,
    redirect_host: request.redirectHost,
    is_this_computer: request.isLoopback,
    group: request.group ?? null,
    address: request.address,
    signed_in: signedIn !== undefined,
    expires_at: new Date(expiresAt).toISOString(),
  };
}

function toGrant(login: LoginUse): ClientGrant {
  return {
    id: login.id,
    client_id: login.client,
    client_name: login.clientName === "" ? null : login.clientName,
    redirect_host: login.redirectHost === "" ? null : login.redirectHost,
    principal: login.principal,
    groups: [...login.groups],
    read_only: login.readOnly,
    created_at: new Date(login.createdAt).toISOString(),
    expires_at: new Date(login.expiresAt).toISOString(),
    used_at: login.usedAt === undefined ? null : new Date(login.usedAt).toISOString(),
    used_from: login.usedFrom ?? null,
  };
}
