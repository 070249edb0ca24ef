// What a token can be issued for: a group, the admin endpoint, the management API. Clients read from its metadata (RFC 9728) where
// they get tokens for it.

import type { Scope } from "./scopes.ts";

export interface Resource {
  /** The same for all addresses of it. */
  readonly name: string;
  /** The path of its address, without a slash at the end. */
  readonly path: string;
  /** The scope that ordinary use needs. */
  readonly scope: Scope;
  /** For people. */
  readonly title: string;
}

/** The addresses of resources. */
export interface ResourceAddresses {
  /** Where clients reach the hub, without a slash at the end. Never taken from a request, which could claim anything. */
  base: string;
  /** The resource of which this path is an address. */
  at(path: string): Resource | undefined;
  /** The resource that a request is for. */
  for(url: string | undefined): Resource;
}

export const METADATA_PATH = "/.well-known/oauth-protected-resource";

export interface MetadataOptions {
  /** Where clients reach the hub. */
  readonly base: string;
  readonly issuers: readonly string[];
}

export function resourceMetadata({ path, scope, title }: Resource, { base, issuers }: MetadataOptions): object {
  return {
    resource: base + path,
    authorization_servers: issuers,
    scopes_supported: [scope],
    bearer_methods_supported: ["header"],
    resource_name: title,
  };
}

export function metadataUrl({ path }: Resource, base: string): string {
  return `${base}${METADATA_PATH}${path}`;
}
