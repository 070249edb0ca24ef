// One group of one snapshot: its lists, and the resolution of names and URIs. Immutable; catalog.ts replaces it as a whole.
import { listJson } from "./listing.ts";
import { isObject, type JsonObject } from "../lib/json/json.ts";
import type { Member } from "./member.ts";
import type { Membership } from "./membership.ts";
import { NameTable } from "./name-table.ts";
import type { NamedOffer } from "./name-table.ts";
import type { Offer } from "./offers.ts";
import { META_DEFINITIONS } from "../search/meta-tools.ts";
import { ToolIndex } from "../search/tool-index.ts";
import { ResourceTable } from "./resource-table.ts";
import type { OfferedUri } from "./resource-table.ts";
import { tokensOfJson } from "./tokens.ts";
import { ToolFilter } from "./tool-filter.ts";
import { rulesOf, type ToolRules } from "./tool-rules.ts";
import { GroupToolSettings, type ToolOverride } from "./tool-settings.ts";
import { rewriteUiResource } from "./uris.ts";
import type { OwnedUri } from "./uris.ts";

interface Exposed {
  readonly server: string;
  /** The name or URI that clients see. */
  readonly exposed: string;
  /** As clients see it: the server's own object, with the name or URI replaced if it differs. */
  readonly definition: JsonObject;
}

/** `tool`, `prompt`, `uri` and `uriTemplate` are the server's own names. */
export type ExposedTool = Exposed & {
  readonly tool: string;
  /** What the group has set for it; undefined for nearly all tools. */
  readonly override?: ToolOverride | undefined;
  /** What holds for its calls; undefined for nearly all tools. */
  readonly rules?: ToolRules | undefined;
};
export type ExposedPrompt = Exposed & { readonly prompt: string };
export type ExposedResource = Exposed & { readonly uri: string };
export type ExposedTemplate = Exposed & { readonly uriTemplate: string };

export interface Differences {
  readonly tools: boolean;
  readonly prompts: boolean;
  /** Resources or templates: both have the same notification. */
  readonly resources: boolean;
}

interface GroupOptions {
  readonly maxNameLength: number;
  /** Names are the server's own, whatever they contain. */
  readonly verbatim?: boolean;
  /** Only the tools that say that they change nothing. */
  readonly readOnly?: boolean;
  /** Whether the previous snapshot of an `auto` group was searched, so that it does not change back and forth. */
  readonly wasSearched?: boolean | undefined;
  /** What holds for the calls of a tool. Default: as the membership says. */
  readonly rulesOf?: (tool: { readonly server: string; readonly own: string }) => ToolRules | undefined;
}

/** Whether clients get all tools, or tools that search them. */
export type Exposure = "all" | "search";

/** Tokens of all tools above which an `auto` group is searched: a tenth of a context window of 200,000. */
const SEARCH_ABOVE = 20_000;
/** A searched group lists all tools again below this. */
const LIST_BELOW = 16_000;

export class Group {
  readonly name: string;
  readonly description: string | undefined;
  readonly servers: readonly string[];
  /** Who may use it. Undefined: everyone whose credentials are valid. */
  readonly access: readonly string[] | undefined;
  /** Whether server requests to its clients name the server. */
  readonly namesAsker: boolean;
  readonly tools: readonly ExposedTool[];
  readonly prompts: readonly ExposedPrompt[];
  readonly resources: readonly ExposedResource[];
  readonly templates: readonly ExposedTemplate[];

  readonly #tools: NameTable;
  readonly #prompts: NameTable;
  readonly #resources: ResourceTable;
  readonly #restrict: () => Group;
  readonly #expose: (exposure: Exposure) => Group;
  readonly #exposure: Membership["exposure"];
  readonly #wasSearched: boolean | undefined;
  readonly #always: readonly ExposedTool[];
  readonly #exposed = new Map<Exposure, Group>();
  #readOnly: Group | undefined;
  #isSearched: boolean | undefined;
  #index: ToolIndex<ExposedTool> | undefined;
  #allToolsJson: Buffer | undefined;
  #toolsJson: Buffer | undefined;
  #promptsJson: Buffer | undefined;
  #resourcesJson: Buffer | undefined;
  #templatesJson: Buffer | undefined;

  /** Members are the servers of the membership, in its order. */
  constructor(membership: Membership, members: readonly Member[], options: GroupOptions) {
    const { maxNameLength, verbatim = false, readOnly = false } = options;
    const {
      name,
      description,
      servers,
      tools,
      toolSettings,
      nameAsker,
      access,
      exposure,
      always,
      approve,
      approvalTimeoutMs,
      results,
      several,
      incomplete: _incomplete,
      ...rest
    } = membership;
    requireEmpty(rest);
    const filter = new ToolFilter(tools);
    const naming = { group: name, form: { several, maxLength: maxNameLength, verbatim } };
    const resources = new ResourceTable(name, members);
    const limits = new Map(members.map(({ server, maxResultBytes }) => [server, maxResultBytes]));
    this.name = name;
    this.description = description;
    this.servers = servers;
    this.access = access;
    this.namesAsker = nameAsker ?? servers.length > 1;
    this.#resources = resources;
    this.#tools = new NameTable(members, {
      ...naming,
      kind: "Tool",
      pick: ({ server, offers }) => withExposedPages(offers.tools, resources.rewrittenUris(server)),
      admits: (server, tool) => filter.admits(server, tool),
      ...(toolSettings === undefined ? {} : { settings: new GroupToolSettings(toolSettings, maxNameLength) }),
      rules:
        options.rulesOf ??
        (({ server, definition, override }) =>
          rulesOf(
            { approve, approvalTimeoutMs, results },
            { definition, override, maxResultBytes: limits.get(server) },
          )),
      ...(readOnly ? { hides: (definition) => !changesNothing(definition) } : {}),
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
    this.#restrict = () => (readOnly ? this : new Group(membership, members, { ...options, readOnly: true }));
    this.#expose = (mode) => new Group({ ...membership, exposure: mode }, members, options);
    this.#exposure = exposure;
    this.#wasSearched = options.wasSearched;
    const pinned = new ToolFilter(always);
    this.#always = always.length === 0 ? [] : this.tools.filter(({ server, tool }) => pinned.admits(server, tool));
  }

  /** The same group for callers that may only read: with the tools that say that they change nothing. */
  get readOnly(): Group {
    return (this.#readOnly ??= this.#restrict());
  }

  /** The same group for clients that want all tools, or tools that search them. */
  exposing(exposure: Exposure): Group {
    const known = this.#exposed.get(exposure);
    if (known !== undefined) return known;
    const group = this.#expose(exposure);
    this.#exposed.set(exposure, group);
    return group;
  }

  /** Whether clients get tools that search, in place of all tools. */
  get isSearched(): boolean {
    return (this.#isSearched ??= this.#decide());
  }

  /** The last decision about it, if there was one: unlike `isSearched`, it costs nothing. */
  get wasSearched(): boolean | undefined {
    return this.#isSearched ?? this.#wasSearched;
  }

  /** What the tools' definitions take of a model's context: an estimate. */
  get tokens(): number {
    return tokensOfJson(this.#allJson);
  }

  /** Definitions of the tools in the list that clients get. */
  get listed(): readonly JsonObject[] {
    const tools = this.isSearched ? this.#always : this.tools;
    const definitions = tools.map(({ definition }) => definition);
    return this.isSearched ? [...META_DEFINITIONS, ...definitions] : definitions;
  }

  get index(): ToolIndex<ExposedTool> {
    return (this.#index ??= new ToolIndex(this.tools));
  }

  #decide(): boolean {
    if (this.#exposure !== "auto") return this.#exposure === "search";
    return this.tokens > (this.#wasSearched === true ? LIST_BELOW : SEARCH_ABOVE);
  }

  get #allJson(): Buffer {
    return (this.#allToolsJson ??= toJson(this.tools));
  }

  /** By exposed name or by `server:tool`; throws «Tool not found». The server may be down. */
  resolveTool(name: string): ExposedTool {
    return toTool(this.#tools.resolve(name));
  }

  /** What holds for calls of a tool of a server; undefined also if the group does not have it. */
  findRules(server: string, tool: string): ToolRules | undefined {
    return this.#tools.find(`${server}:${tool}`)?.rules;
  }

  /** Like resolveTool, for prompts; throws «Prompt not found». */
  resolvePrompt(name: string): ExposedPrompt {
    return toPrompt(this.#prompts.resolve(name));
  }

  /** Listed, matching a template, or unlisted if only one server has resources; throws «Resource not found». */
  resolveResource(uri: string): OwnedUri {
    return this.#resources.resolve(uri);
  }

  /** The owner of a resource by list, prefix or template, also while that server is down. */
  findResourceOwner(uri: string): OwnedUri | undefined {
    return this.#resources.findOwner(uri);
  }

  resolveTemplate(uriTemplate: string): { readonly server: string; readonly uriTemplate: string } {
    return this.#resources.resolveTemplate(uriTemplate);
  }

  /** Original → exposed URIs of the server's resources and templates; nearly always empty. */
  rewrittenUris(server: string): ReadonlyMap<string, string> {
    return this.#resources.rewrittenUris(server);
  }

  /** The list as JSON, serialized once for all clients. */
  get toolsJson(): Buffer {
    return (this.#toolsJson ??= this.isSearched ? listJson(this.listed) : this.#allJson);
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

  /** Which lists differ from those of a previous snapshot. */
  differs(previous: Group): Differences {
    return {
      tools: !this.toolsJson.equals(previous.toolsJson),
      prompts: !this.promptsJson.equals(previous.promptsJson),
      resources:
        !this.resourcesJson.equals(previous.resourcesJson) || !this.templatesJson.equals(previous.templatesJson),
    };
  }
}

/** A tool without the hint may change anything. */
function changesNothing({ annotations }: JsonObject): boolean {
  return isObject(annotations) && annotations["readOnlyHint"] === true;
}

/** Does not compile while a field of Membership is not taken out of `rest`: a new group setting must be used here. */
function requireEmpty(_rest: Readonly<Record<string, never>>): void {}

function withExposedPages(tools: readonly Offer[], mapping: ReadonlyMap<string, string>): readonly Offer[] {
  if (mapping.size === 0) return tools;
  return tools.map((tool) => ({ ...tool, definition: rewriteUiResource(tool.definition, mapping) }));
}

function toTool({ server, own, exposed, definition, override, rules }: NamedOffer): ExposedTool {
  return { server, tool: own, exposed, definition, override, rules };
}

/** For the call log: undefined unless the group has renamed the tool. */
export function givenName({ exposed, override }: Pick<ExposedTool, "exposed" | "override">): string | undefined {
  return override?.settings.as === undefined ? undefined : exposed;
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
