// One group of one snapshot: what it offers and what a name means in it. Immutable; catalog.ts replaces it as a whole.
import { listJson, type JsonObject } from "./listing.ts";
import type { Member } from "./member.ts";
import type { Membership } from "./membership.ts";
import { NameTable } from "./name-table.ts";
import type { NamedOffer } from "./name-table.ts";
import type { Offer } from "./offers.ts";
import { ResourceTable } from "./resource-table.ts";
import type { OfferedUri } from "./resource-table.ts";
import { ToolFilter } from "./tool-filter.ts";
import { rewriteUiResource } from "./uris.ts";
import type { OwnedUri } from "./uris.ts";

interface Exposed {
  readonly server: string;
  /** The name or URI that clients see. */
  readonly exposed: string;
  /** As clients see it: the server's own object, with the name or URI replaced where it differs. */
  readonly definition: JsonObject;
}

/** `tool`, `prompt`, `uri` and `uriTemplate` are what the server itself knows. */
export type ExposedTool = Exposed & { readonly tool: string };
export type ExposedPrompt = Exposed & { readonly prompt: string };
export type ExposedResource = Exposed & { readonly uri: string };
export type ExposedTemplate = Exposed & { readonly uriTemplate: string };

export interface Differences {
  readonly tools: boolean;
  readonly prompts: boolean;
  /** Resources or templates: clients hear of both by one notification. */
  readonly resources: boolean;
}

export class Group {
  readonly name: string;
  readonly description: string | undefined;
  readonly servers: readonly string[];
  /** Whether questions to its clients say which server asks. */
  readonly namesAsker: boolean;
  readonly tools: readonly ExposedTool[];
  readonly prompts: readonly ExposedPrompt[];
  readonly resources: readonly ExposedResource[];
  readonly templates: readonly ExposedTemplate[];

  readonly #tools: NameTable;
  readonly #prompts: NameTable;
  readonly #resources: ResourceTable;
  #toolsJson: Buffer | undefined;
  #promptsJson: Buffer | undefined;
  #resourcesJson: Buffer | undefined;
  #templatesJson: Buffer | undefined;

  /** Members are the servers of the membership, in its order. */
  constructor(membership: Membership, members: readonly Member[], { maxNameLength }: { maxNameLength: number }) {
    const { name, description, servers, several } = membership;
    const filter = new ToolFilter(membership.tools);
    const naming = { group: name, form: { several, maxLength: maxNameLength } };
    const resources = new ResourceTable(name, members);
    this.name = name;
    this.description = description;
    this.servers = servers;
    this.namesAsker = membership.nameAsker ?? servers.length > 1;
    this.#resources = resources;
    this.#tools = new NameTable(members, {
      ...naming,
      kind: "Tool",
      pick: ({ server, offers }) => withExposedPages(offers.tools, resources.rewrittenUris(server)),
      admits: (server, tool) => filter.admits(server, tool),
    });
    this.#prompts = new NameTable(members, {
      ...naming,
      kind: "Prompt",
      pick: ({ offers }) => offers.prompts,
      admits: () => true,
    });
    this.tools = this.#tools.available.map(toTool);
    this.prompts = this.#prompts.available.map(toPrompt);
    this.resources = resources.resources.map(toResource);
    this.templates = resources.templates.map(toTemplate);
  }

  /** By exposed name or by `server:tool`; «Tool not found». Whether its server runs is for the call to find out. */
  resolveTool(name: string): ExposedTool {
    return toTool(this.#tools.resolve(name));
  }

  /** The same rules; «Prompt not found». */
  resolvePrompt(name: string): ExposedPrompt {
    return toPrompt(this.#prompts.resolve(name));
  }

  /** Listed or made from a template, or unlisted where only one server can be meant; «Resource not found». */
  resolveResource(uri: string): OwnedUri {
    return this.#resources.resolve(uri);
  }

  /** Whose a resource is by list, by name or by template, also while that server is down. */
  findResourceOwner(uri: string): OwnedUri | undefined {
    return this.#resources.findOwner(uri);
  }

  resolveTemplate(uriTemplate: string): { readonly server: string; readonly uriTemplate: string } {
    return this.#resources.resolveTemplate(uriTemplate);
  }

  /** Original → exposed, of the server's resources and templates; nearly always empty. */
  rewrittenUris(server: string): ReadonlyMap<string, string> {
    return this.#resources.rewrittenUris(server);
  }

  /** The list as JSON, made once for all clients that ask for it. */
  get toolsJson(): Buffer {
    return (this.#toolsJson ??= toJson(this.tools));
  }

  get promptsJson(): Buffer {
    return (this.#promptsJson ??= toJson(this.prompts));
  }

  get resourcesJson(): Buffer {
    return (this.#resourcesJson ??= toJson(this.resources));
  }

  get templatesJson(): Buffer {
    return (this.#templatesJson ??= toJson(this.templates));
  }

  /** What a client that holds the previous lists would see differently. */
  differs(previous: Group): Differences {
    return {
      tools: !this.toolsJson.equals(previous.toolsJson),
      prompts: !this.promptsJson.equals(previous.promptsJson),
      resources:
        !this.resourcesJson.equals(previous.resourcesJson) || !this.templatesJson.equals(previous.templatesJson),
    };
  }
}

function withExposedPages(tools: readonly Offer[], mapping: ReadonlyMap<string, string>): readonly Offer[] {
  if (mapping.size === 0) return tools;
  return tools.map(({ own, definition }) => ({ own, definition: rewriteUiResource(definition, mapping) }));
}

function toTool({ server, own, exposed, definition }: NamedOffer): ExposedTool {
  return { server, tool: own, exposed, definition };
}

function toPrompt({ server, own, exposed, definition }: NamedOffer): ExposedPrompt {
  return { server, prompt: own, exposed, definition };
}

function toResource({ server, uri, exposed, definition }: OfferedUri): ExposedResource {
  return { server, uri, exposed, definition: exposed === uri ? definition : { ...definition, uri: exposed } };
}

function toTemplate({ server, uri, exposed, definition }: OfferedUri): ExposedTemplate {
  const shown = exposed === uri ? definition : { ...definition, uriTemplate: exposed };
  return { server, uriTemplate: uri, exposed, definition: shown };
}

function toJson(entries: readonly Exposed[]): Buffer {
  return listJson(entries.map(({ definition }) => definition));
}
