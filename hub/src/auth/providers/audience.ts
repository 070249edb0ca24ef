// Which resources of the hub a token is for. Addresses are compared as text: a parser would make different ones equal.

import type { ResourceAddresses } from "../resource.ts";
import type { IssuerSettings } from "./issuer-settings.ts";
import { InvalidToken } from "./refusals.ts";

/** Names of resources; "any": the audience stands for the hub as a whole. */
export type Coverage = "any" | ReadonlySet<string>;

const ADDRESS = /^(https?):\/\/([^/?#\\@]+)(\/[^?#\\]*)?$/i;
const DEFAULT_PORT: Readonly<Record<string, RegExp>> = { http: /:80$/, https: /:443$/ };

/** Throws InvalidToken if the token is for nothing here. */
export function coverageOf(
  audience: unknown,
  { audience: listed }: Pick<IssuerSettings, "audience">,
  { base, at }: Pick<ResourceAddresses, "base" | "at">,
): Coverage {
  const given = (Array.isArray(audience) ? audience : [audience]).filter((each) => typeof each === "string");
  if (given.length === 0) throw new InvalidToken("The token has no audience", { isGenuine: true });
  if (given.some((each) => listed.includes(each))) return "any";
  const own = normalized(base) ?? base;
  const names = given.flatMap((each) => {
    const address = normalized(each);
    if (address === undefined || !address.startsWith(`${own}/`)) return [];
    return at(address.slice(own.length))?.name ?? [];
  });
  if (names.length === 0) throw new InvalidToken("The token is for another resource", { isGenuine: true });
  return new Set(names);
}

export function covers(coverage: Coverage, resource: string): boolean {
  return coverage === "any" || coverage.has(resource);
}

/** Scheme and host in lower case, without the default port and one slash at the end. */
function normalized(address: string): string | undefined {
  const [, scheme, authority, path = ""] = ADDRESS.exec(address) ?? [];
  if (scheme === undefined || authority === undefined) return undefined;
  const protocol = scheme.toLowerCase();
  const host = authority.toLowerCase().replace(DEFAULT_PORT[protocol] ?? "", "");
  return `${protocol}://${host}${path.endsWith("/") ? path.slice(0, -1) : path}`;
}
