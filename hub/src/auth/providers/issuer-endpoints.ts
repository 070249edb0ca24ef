// Where the keys and the introspection endpoint of an issuer are: as configured, or as its metadata says.

import { HubError } from "../../errors.ts";
import type { JSONWebKeySet } from "jose";
import { findIssuerMetadata } from "../../oauth/discovery/issuer-metadata.ts";
import { readDocument, unreadable } from "../../oauth/discovery/metadata-document.ts";
import { parseSafeUrl } from "../../oauth/fetch/safe-url.ts";
import type { AuthorizationServerMetadata, GuardedFetch } from "../../oauth/types.ts";
import type { IssuerSettings } from "./issuer-settings.ts";

export interface IssuerEndpointsOptions {
  readonly settings: Pick<IssuerSettings, "issuer" | "jwksUri" | "introspection">;
  /** For addresses that come from a document of this address. */
  readonly fetchFor: (address: string) => GuardedFetch;
  readonly now: () => number;
}

const FRESH_MS = 3_600_000;

export class IssuerEndpoints {
  readonly #options: IssuerEndpointsOptions;
  #metadata: { readonly document: Promise<AuthorizationServerMetadata>; readonly at: number } | undefined;

  constructor(options: IssuerEndpointsOptions) {
    this.#options = options;
  }

  async keys(): Promise<JSONWebKeySet> {
    const { settings, fetchFor } = this.#options;
    const { jwksUri } = settings;
    const address = jwksUri ?? parseSafeUrl((await this.#read()).jwks_uri, "jwks_uri").href;
    const document = await readDocument(address, { fetch: fetchFor(jwksUri ?? settings.issuer) });
    if (document === undefined) throw unreadable(address, "There is nothing at this address");
    const { keys } = document;
    if (!Array.isArray(keys)) throw unreadable(address, "It is not a key set");
    return { keys };
  }

  async introspection(): Promise<{ readonly address: string; readonly fetch: GuardedFetch }> {
    const { settings, fetchFor } = this.#options;
    const { issuer, introspection } = settings;
    const configured = introspection?.endpoint;
    if (configured !== undefined) return { address: configured, fetch: fetchFor(configured) };
    const found = (await this.#read()).introspection_endpoint;
    if (found === undefined) {
      throw new HubError("ConnectionFailed", `${issuer} names no introspection endpoint`, {
        hint: "Set introspection.endpoint in its entry of auth.issuers in hub.json",
      });
    }
    return { address: parseSafeUrl(found, "introspection_endpoint").href, fetch: fetchFor(issuer) };
  }

  #read(): Promise<AuthorizationServerMetadata> {
    const at = this.#options.now();
    if (this.#metadata === undefined || at - this.#metadata.at >= FRESH_MS) {
      const read = { document: this.#discover(), at };
      this.#metadata = read;
      read.document.catch(() => {
        if (this.#metadata === read) this.#metadata = undefined;
      });
    }
    return this.#metadata.document;
  }

  async #discover(): Promise<AuthorizationServerMetadata> {
    const { settings, fetchFor } = this.#options;
    const found = await findIssuerMetadata(settings.issuer, { fetch: fetchFor(settings.issuer) });
    if (found !== undefined) return found;
    throw new HubError("ConnectionFailed", `${settings.issuer} has no metadata`, {
      hint: "Set jwks_uri in its entry of auth.issuers in hub.json",
    });
  }
}
