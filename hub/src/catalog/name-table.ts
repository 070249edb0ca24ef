// Resolves exposed names of tools (or prompts) to servers, inside one group. Always by this table: a name is never split.
import { closest } from "@plugboard/shared/near-names";
import { HubError } from "../errors.ts";
import { isUnknown, unavailable } from "./member.ts";
import type { Member } from "./member.ts";
import type { JsonObject } from "../lib/json/json.ts";
import { exposeNames, findPlainTool, mayBeHashedName } from "./names.ts";
import type { NameForm } from "./names.ts";
import type { Offer } from "./offers.ts";
import { quote } from "./quote.ts";
import type { ToolRules } from "./tool-rules.ts";
import { withheldError } from "./withheld.ts";
import { overridden, type GroupToolSettings, type ToolOverride } from "./tool-settings.ts";

/** An offer of a server under the name that clients see; the definition carries that name. */
export interface NamedOffer extends Offer {
  readonly server: string;
  readonly exposed: string;
  /** What the group has set for it. */
  readonly override?: ToolOverride | undefined;
  /** What holds for its calls. */
  readonly rules?: ToolRules | undefined;
}

interface NameTableOptions {
  readonly kind: "Tool" | "Prompt";
  readonly group: string;
  readonly form: NameForm;
  readonly pick: (member: Member) => readonly Offer[];
  readonly admits: (server: string, own: string) => boolean;
  /** Whether an offer is treated as if it did not exist. It changes no name of the others. */
  readonly hides?: (definition: JsonObject) => boolean;
  readonly settings?: GroupToolSettings;
  readonly rules?: (offer: {
    readonly server: string;
    readonly own: string;
    readonly definition: JsonObject;
    readonly override: ToolOverride | undefined;
  }) => ToolRules | undefined;
}

interface Slot {
  readonly member: Member;
  readonly offer: NamedOffer;
}

export class NameTable {
  /** The offers of running servers, in the order of the members and of their lists. */
  readonly available: readonly NamedOffer[];
  readonly #members: readonly Member[];
  readonly #options: NameTableOptions;
  readonly #form: NameForm;
  /** By exposed name and by `server:own`. The two cannot clash: no exposed name has a colon, unless it is verbatim. */
  readonly #slots = new Map<string, Slot>();
  /** Built on the first lookup of an unknown name. */
  #formerNames: ReadonlyMap<string, NamedOffer> | undefined;

  constructor(members: readonly Member[], options: NameTableOptions) {
    this.#members = members;
    this.#options = options;
    const { settings } = options;
    this.#form = settings === undefined ? options.form : { ...options.form, taken: settings.names };
    const entries = members.flatMap((member) =>
      options
        .pick(member)
        .filter(({ own }) => options.admits(member.server, own))
        .map((offer) => ({ member, offer, server: member.server, own: offer.own })),
    );
    const names = exposeNames(entries, this.#form);
    const available: NamedOffer[] = [];
    for (const [index, { member, offer, server, own }] of entries.entries()) {
      const override = settings?.of(server, own, offer.definition);
      const given = this.#givenName(override);
      const exposed = given ?? names[index] ?? own;
      const shown = override === undefined ? offer.definition : overridden(offer.definition, override);
      const definition = exposed === own ? shown : renamed(own, shown, { exposed, isChosen: given !== undefined });
      if (options.hides?.(definition) === true) continue;
      const rules = options.rules?.({ server, own, definition: offer.definition, override });
      const { withheld } = offer;
      const named = {
        server,
        own,
        exposed,
        definition,
        override,
        rules,
        ...(withheld === undefined ? {} : { withheld }),
      };
      const slot = { member, offer: named };
      this.#slots.set(exposed, slot);
      if (options.form.verbatim !== true) this.#slots.set(`${server}:${own}`, slot);
      if (member.state === "running" && withheld === undefined) available.push(named);
    }
    this.available = available;
  }

  /** By exposed name or `server:own`; undefined if no listing has it. */
  find(name: string): NamedOffer | undefined {
    return this.#slots.get(name)?.offer;
  }

  /** Also for a server that is down: the call then fails and is recorded. */
  resolve(name: string): NamedOffer {
    const known = this.#slots.get(name)?.offer ?? this.#former.get(name);
    if (known?.withheld !== undefined) throw withheldError(known.server, known.own, known.withheld);
    if (known !== undefined) return known;
    // The table has all names of servers with a listing, so only a server without one can own this name.
    const owner = this.#members.find((member) => isUnknown(member) && this.#mayOwn(member, name));
    if (owner === undefined || this.#options.hides?.({}) === true) throw this.#missing(name);
    const own = this.#ownName(owner, name);
    if (own === undefined) throw unavailable(owner);
    const override = this.#options.settings?.of(owner.server, own, {});
    const rules = this.#options.rules?.({ server: owner.server, own, definition: {}, override });
    return { server: owner.server, own, exposed: name, definition: {}, override, rules };
  }

  #givenName(override: ToolOverride | undefined): string | undefined {
    const name = override?.settings.as;
    return name !== undefined && this.#options.settings?.names.has(name) === true ? name : undefined;
  }

  /**
   * The names that offers would have if the group had several servers instead of one, or one instead of several, or if it did not
   * rename them: clients that listed them before the group changed still use those. Only unambiguous names, and none if a server of the group is disabled,
   * since the name may be its own.
   */
  get #former(): ReadonlyMap<string, NamedOffer> {
    if (this.#formerNames !== undefined) return this.#formerNames;
    const form = this.#form;
    const byName = new Map<string, NamedOffer | undefined>();
    const isComplete = form.verbatim !== true && this.#members.every(({ state }) => state !== "disabled");
    for (const { offer } of isComplete ? new Set(this.#slots.values()) : []) {
      const isRenamed = this.#givenName(offer.override) !== undefined;
      for (const several of isRenamed ? [true, false] : [!form.several]) {
        const [name = ""] = exposeNames([offer], { ...form, several });
        byName.set(name, byName.has(name) ? undefined : offer);
      }
    }
    const unique = [...byName].flatMap(([name, offer]) => (offer === undefined ? [] : [[name, offer] as const]));
    return (this.#formerNames = new Map(unique));
  }

  #missing(name: string): HubError {
    const { kind, group } = this.#options;
    const detail = `Group ${quote(group)} has no ${kind.toLowerCase()} ${quote(name)}`;
    const hint = this.#hint(name);
    return new HubError("ToolNotFound", `${kind} not found`, { detail, ...(hint === undefined ? {} : { hint }) });
  }

  #mayOwn(member: Member, name: string): boolean {
    const { admits } = this.#options;
    const own = this.#ownName(member, name);
    return own === undefined ? mayBeHashedName(name, member.server, this.#form) : admits(member.server, own);
  }

  /** The own name on a server without a listing; undefined if the exposed name may be hashed. */
  #ownName({ server }: Member, name: string): string | undefined {
    // A tool that the group names is written as `server:tool`.
    const full = this.#options.settings?.names.get(name) ?? name;
    if (this.#form.verbatim !== true && full.startsWith(`${server}:`)) return full.slice(server.length + 1);
    return findPlainTool(name, server, this.#form);
  }

  /** Suggests the full names of an ambiguous tool, or the closest name. */
  #hint(name: string): string | undefined {
    const candidates = this.available.filter(({ own }) => own === name).slice(0, 3);
    if (candidates.length > 0) return `Call it as ${candidates.map(({ exposed }) => exposed).join(" or ")}`;
    const near = closest(
      name,
      this.available.map(({ exposed }) => exposed),
    );
    return near === undefined ? undefined : `Did you mean ${near}?`;
  }
}

/** A non-ASCII name is lost in the exposed name, so it is added to the title and description, unless a person chose the name. */
function renamed(
  own: string,
  definition: JsonObject,
  { exposed, isChosen }: { readonly exposed: string; readonly isChosen: boolean },
): JsonObject {
  if (isChosen || /^[ -~]*$/.test(own)) return { ...definition, name: exposed };
  const { title, description } = definition;
  const text = typeof description === "string" && description !== "" ? `${own}: ${description}` : own;
  return { ...definition, name: exposed, title: typeof title === "string" ? title : own, description: text };
}
