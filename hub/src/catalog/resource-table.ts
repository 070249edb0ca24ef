// Resolves resource URIs to servers, inside one group: by list, by prefix, by template, or because only one server has resources.
import { HubError } from "../errors.ts";
import { requireRunning } from "./member.ts";
import type { Member } from "./member.ts";
import type { JsonObject } from "../lib/json/json.ts";
import { quote } from "./quote.ts";
import { UriTemplate } from "./uri-template.ts";
import { exposeUris, parseOwnedUri } from "./uris.ts";
import type { OwnedUri } from "./uris.ts";

interface Claim extends OwnedUri {
  readonly member: Member;
  /** Undefined if the server does not list it. */
  readonly definition?: JsonObject;
}

interface Owned extends Claim {
  readonly exposed: string;
}

/** A resource or template of a running server, under the URI that clients see. */
export type OfferedUri = Owned & { readonly definition: JsonObject };

export class ResourceTable {
  readonly resources: readonly OfferedUri[];
  readonly templates: readonly OfferedUri[];
  readonly #group: string;
  readonly #members: ReadonlyMap<string, Member>;
  readonly #byUri: ReadonlyMap<string, Owned>;
  readonly #byTemplate: ReadonlyMap<string, Owned>;
  readonly #patterns: readonly { readonly pattern: UriTemplate; readonly owned: Owned }[];
  readonly #rewritten = new Map<string, Map<string, string>>();

  constructor(group: string, members: readonly Member[]) {
    this.#group = group;
    this.#members = new Map(members.map((member) => [member.server, member]));
    const resources = expose(members.flatMap(resourceClaims));
    const templates = expose(members.flatMap(templateClaims));
    this.resources = resources.filter(isOffered);
    this.templates = templates.filter(isOffered);
    this.#byUri = new Map(resources.map((owned) => [owned.exposed, owned]));
    this.#byTemplate = new Map(templates.map((owned) => [owned.exposed, owned]));
    // A rewritten template is matched by its prefix, never by its pattern.
    this.#patterns = templates
      .filter(({ uri, exposed }) => uri === exposed)
      .map((owned) => ({ pattern: new UriTemplate(owned.uri), owned }));
    for (const { server, uri, exposed } of [...resources, ...templates]) {
      if (uri === exposed) continue;
      const mapping = this.#rewritten.get(server) ?? new Map<string, string>();
      this.#rewritten.set(server, mapping.set(uri, exposed));
    }
  }

  rewrittenUris(server: string): ReadonlyMap<string, string> {
    return this.#rewritten.get(server) ?? new Map();
  }

  /** The owner by list, prefix or template, running or not. */
  findOwner(uri: string): OwnedUri | undefined {
    const found = this.#find(uri);
    return found === undefined ? undefined : { server: found.server, uri: found.uri };
  }

  resolve(uri: string): OwnedUri {
    const found = this.#find(uri);
    if (found !== undefined) {
      // Also for a template: another server's template may match too, but it is another resource.
      requireRunning(found.member);
      return { server: found.server, uri: found.uri };
    }
    // Servers may serve resources that they do not list, so the only server with resources is tried.
    const readers = [...this.#members.values()].filter((member) => member.state === "running" && hasResources(member));
    const [only] = readers;
    if (only !== undefined && readers.length === 1) return { server: only.server, uri };
    this.#requireOnlyMember();
    throw this.#missing("Resource", uri);
  }

  /** For completions, which may also refer to a plain resource. */
  resolveTemplate(uriTemplate: string): { readonly server: string; readonly uriTemplate: string } {
    const found = this.#byTemplate.get(uriTemplate) ?? this.#byUri.get(uriTemplate) ?? this.#findPrefixed(uriTemplate);
    if (found === undefined) {
      this.#requireOnlyMember();
      throw this.#missing("Resource template", uriTemplate);
    }
    requireRunning(found.member);
    return { server: found.server, uriTemplate: found.uri };
  }

  #find(uri: string): Claim | undefined {
    return this.#byUri.get(uri) ?? this.#findPrefixed(uri) ?? this.#findByTemplate(uri);
  }

  #findPrefixed(exposed: string): Claim | undefined {
    const owned = parseOwnedUri(exposed);
    const member = owned === undefined ? undefined : this.#members.get(owned.server);
    return owned === undefined || member === undefined ? undefined : { ...owned, member };
  }

  #findByTemplate(uri: string): Claim | undefined {
    const match = this.#patterns.find(({ pattern }) => pattern.matches(uri));
    return match === undefined ? undefined : { ...match.owned, uri };
  }

  /** In a group of one server that is down, "Server unavailable" is more helpful than "not found". */
  #requireOnlyMember(): void {
    const [only] = this.#members.values();
    if (only !== undefined && this.#members.size === 1) requireRunning(only);
  }

  #missing(kind: string, uri: string): HubError {
    const detail = `Group ${quote(this.#group)} has no ${kind.toLowerCase()} ${quote(uri)}`;
    return new HubError("ToolNotFound", `${kind} not found`, { detail });
  }
}

function expose(claims: readonly Claim[]): Owned[] {
  const uris = exposeUris(claims);
  return claims.map((claim, index) => ({ ...claim, exposed: uris[index] ?? claim.uri }));
}

function resourceClaims(member: Member): Claim[] {
  const { server, offers } = member;
  const listed = offers.resources.map(({ own, definition }) => ({ member, server, uri: own, definition }));
  return [...listed, ...offers.uiUris.map((uri) => ({ member, server, uri }))];
}

function templateClaims(member: Member): Claim[] {
  const { server, offers } = member;
  return offers.templates.map(({ own, definition }) => ({ member, server, uri: own, definition }));
}

function isOffered(owned: Owned): owned is OfferedUri {
  return owned.definition !== undefined && owned.member.state === "running";
}

function hasResources({ offers }: Member): boolean {
  return offers.resources.length > 0 || offers.templates.length > 0 || offers.uiUris.length > 0;
}
