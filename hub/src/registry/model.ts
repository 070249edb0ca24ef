// What a registry says about a server, in one form for all registries: its packages and addresses, and the inputs that they need.

import type { JsonObject } from "../config/parse/plain-object.ts";

/** Text with places for inputs: `["Bearer ", { input: "api_key" }]`. */
export type Template = readonly (string | { readonly input: string })[];

export const INPUT_FORMATS = ["string", "number", "boolean", "filepath"] as const;

/** A value that the user may, or must, give. */
export interface Input {
  readonly name: string;
  readonly description?: string;
  readonly isRequired: boolean;
  /** Its value goes to the secret store. */
  readonly isSecret: boolean;
  /** Used if no value is given. A secret has none. */
  readonly default?: string;
  readonly choices?: readonly string[];
  readonly format: (typeof INPUT_FORMATS)[number];
  /** An example. */
  readonly placeholder?: string;
}

export interface Argument {
  /** `--port` of `--port 8080`. */
  readonly flag?: string;
  /** Absent: only the flag. */
  readonly text?: Template;
  /** The text says whether the flag is there. */
  readonly isSwitch?: boolean;
  /** An input with several values, separated by commas: one argument for each. */
  readonly isList?: boolean;
}

export interface Variable {
  readonly name: string;
  readonly text: Template;
}

interface OfferParts {
  readonly inputs: readonly Input[];
  readonly warnings: readonly string[];
}

export const PACKAGE_KINDS = ["npm", "pypi", "oci"] as const;
export const OFFER_KINDS = [...PACKAGE_KINDS, "remote"] as const;
export type OfferKind = (typeof OFFER_KINDS)[number];

/** A package that the hub can run over stdio. */
export interface PackageOffer extends OfferParts {
  readonly kind: (typeof PACKAGE_KINDS)[number];
  /** With its version, as it stands in the command line. */
  readonly identifier: string;
  /** Arguments of npx, uvx or docker, before the package. */
  readonly runtimeArguments: readonly Argument[];
  readonly packageArguments: readonly Argument[];
  readonly env: readonly Variable[];
  /** Docker only: no network, read-only file system, no capabilities. */
  readonly hardened?: boolean;
}

/** An address at which the server is already running. */
export interface RemoteOffer extends OfferParts {
  readonly kind: "remote";
  readonly type: "http" | "sse";
  readonly url: Template;
  readonly headers: readonly Variable[];
}

export type Offer = PackageOffer | RemoteOffer;

/** A package or address that the hub cannot use, and why. */
export interface Unusable {
  /** As the registry calls it: `nuget`, `mcpb`. */
  readonly kind: string;
  readonly identifier: string;
  readonly reason: string;
}

export type ServerState = "active" | "deprecated" | "deleted";

/** What a list shows. */
export interface ServerSummary {
  readonly name: string;
  /** Absent: the registry has no versions. */
  readonly version?: string;
  readonly title?: string;
  readonly description?: string;
  readonly state: ServerState;
  readonly website?: string;
  readonly repository?: string;
  readonly updatedAt?: string;
  /** The kinds of its packages and addresses, as the registry calls them. */
  readonly kinds: readonly string[];
}

export interface ServerRecord extends ServerSummary {
  readonly offers: readonly Offer[];
  readonly unusable: readonly Unusable[];
}

export interface SearchPage {
  readonly servers: readonly ServerSummary[];
  readonly nextCursor?: string;
}

/** How old an answer is. */
export interface Freshness {
  /** When the registry gave it, in milliseconds since the epoch; undefined: it is part of this program or on this disk. */
  readonly seenAt?: number;
  /** Why the registry could not be asked now. */
  readonly problem?: string;
}

export interface SearchRequest {
  readonly query: string;
  readonly cursor?: string | undefined;
  readonly limit: number;
  readonly signal?: AbortSignal | undefined;
}

/** A place to find servers. Methods throw HubError; `get` throws ServerNotFound for an unknown name or version. */
export interface Registry {
  search(request: SearchRequest): Promise<SearchPage & Freshness>;
  /** Without a version: the newest. */
  get(
    name: string,
    version: string | undefined,
    signal?: AbortSignal,
  ): Promise<{ readonly record: ServerRecord } & Freshness>;
}

/** An entry that can be saved, once the inputs have values. */
export interface Draft {
  readonly kind: OfferKind;
  readonly identifier: string;
  /** As it would be saved, with `${NAME}` in place of the inputs. */
  readonly entry: JsonObject;
  readonly inputs: readonly Input[];
  readonly warnings: readonly string[];
}
