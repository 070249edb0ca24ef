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

/** An offer of a server under the name that clients see; the definition carries that name. */
export interface NamedOffer extends Offer {
  readonly server: string;
  readonly exposed: string;
}

interface NameTableOptions {
  readonly kind: "Tool" | "Prompt";
  readonly group: string;
  readonly form: NameForm;
  readonly pick: (member: Member) => readonly Offer[];
  readonly admits: (server: string, own: string) => boolean;
  /** Whether an offer is treated as if it did not exist. It changes no name of the others. */
  readonly hides?: (definition: JsonObject) => boolean;
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
  /** By exposed name and by `server:own`. The two cannot clash: no exposed name has a colon, unless it is verbatim. */
  readonly #slots = new Map<string, Slot>();
  /** Built on the first lookup of an unknown name. */
  #formerNames: ReadonlyMap<string, NamedOffer> | undefined;

  constructor(members: readonly Member[], options: NameTableOptions) {
    this.#members = members;
    this.#options = options;
    const entries = members.flatMap((member) =>
      options
        .pick(member)
        .filter(({ own }) => options.admits(member.server, own))
        .map((offer) => ({ member, offer, server: member.server, own: offer.own })),
    );
    const names = exposeNames(entries, options.form);
    const available: NamedOffer[] = [];
    for (const [index, { member, offer, server, own }] of entries.entries()) {
      const exposed = names[index] ?? own;
      const definition = exposed === own ? offer.definition : renamed(offer, exposed);
      if (options.hides?.(definition) === true) continue;
      const named = { server, own, exposed, definition };
      const slot = { member, offer: named };
      this.#slots.set(exposed, slot);
      if (options.form.verbatim !== true) this.#slots.set(`${server}:${own}`, slot);
      if (member.state === "running") available.push(named);
    }
    this.available = available;
  }

  /** Also for a server that is down: the call then fails and is recorded. */
  resolve(name: string): NamedOffer {
    const known = this.#slots.get(name)?.offer ?? this.#former.get(name);
    if (known !== undefined) return known;
    // The table has all names of servers with a listing, so only a server without one can own this name.
    const owner = this.#members.find((member) => isUnknown(member) && this.#mayOwn(member, name));
    if (owner === undefined || this.#options.hides?.({}) === true) throw this.#missing(name);
    const own = this.#ownName(owner, name);
    if (own === undefined) throw unavailable(owner);
    return { server: owner.server, own, exposed: name, definition: {} };
  }

  /**
   * The names that offers would have if the group had several servers instead of one, or one instead of several: clients that
   * listed them before the group changed still use those. Only unambiguous names, and none if a server of the group is disabled,
   * since the name may be its own.
   */
  get #former(): ReadonlyMap<string, NamedOffer> {
    if (this.#formerNames !== undefined) return this.#formerNames;
    const { form } = this.#options;
    const byName = new Map<string, NamedOffer | undefined>();
    const isComplete = form.verbatim !== true && this.#members.every(({ state }) => state !== "disabled");
    for (const { offer } of isComplete ? new Set(this.#slots.values()) : []) {
      const [name = ""] = exposeNames([offer], { ...form, several: !form.several });
      byName.set(name, byName.has(name) ? undefined : offer);
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
    const { form, admits } = this.#options;
    const own = this.#ownName(member, name);
    return own === undefined ? mayBeHashedName(name, member.server, form) : admits(member.server, own);
  }

  /** The own name on a server without a listing; undefined if the exposed name may be hashed. */
  #ownName({ server }: Member, name: string): string | undefined {
    if (this.#options.form.verbatim !== true && name.startsWith(`${server}:`)) return name.slice(server.length + 1);
    return findPlainTool(name, server, this.#options.form);
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

/** A non-ASCII name is lost in the exposed name, so it is added to the title and description. */
function renamed({ own, definition }: Offer, exposed: string): JsonObject {
  if (/^[ -~]*$/.test(own)) return { ...definition, name: exposed };
  const { title, description } = definition;
  const text = typeof description === "string" && description !== "" ? `${own}: ${description}` : own;
  return { ...definition, name: exposed, title: typeof title === "string" ? title : own, description: text };
}
