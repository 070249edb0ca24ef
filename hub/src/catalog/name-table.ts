// Which server and which of its tools (or prompts) a name means, inside one group. This table decides; a name is never split.
import { closest } from "../did-you-mean.ts";
import { HubError } from "../errors.ts";
import { isUnknown, unavailable } from "./member.ts";
import type { Member } from "./member.ts";
import type { JsonObject } from "./listing.ts";
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
}

interface Slot {
  readonly member: Member;
  readonly offer: NamedOffer;
}

export class NameTable {
  /** Those of running servers, in the order of the members and of their lists. */
  readonly available: readonly NamedOffer[];
  readonly #members: readonly Member[];
  readonly #options: NameTableOptions;
  /** By exposed name and by `server:own`. The two cannot meet: no exposed name has a colon. */
  readonly #slots = new Map<string, Slot>();
  /** Made when somebody first asks for a name that is not there. */
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
      const named = { server, own, exposed, definition };
      const slot = { member, offer: named };
      this.#slots.set(exposed, slot).set(`${server}:${own}`, slot);
      if (member.state === "running") available.push(named);
    }
    this.available = available;
  }

  /** Also of a server that is down: whoever calls it learns that, and the call is on record. */
  resolve(name: string): NamedOffer {
    const known = this.#slots.get(name)?.offer ?? this.#former.get(name);
    if (known !== undefined) return known;
    // Everything that the listed servers have is in the table, so this can only belong to one without a listing.
    const owner = this.#members.find((member) => isUnknown(member) && this.#mayOwn(member, name));
    if (owner === undefined) throw this.#missing(name);
    const own = this.#ownName(owner, name);
    if (own === undefined) throw unavailable(owner);
    return { server: owner.server, own, exposed: name, definition: {} };
  }

  /**
   * By the names that they would have if the group had several servers and not one, or the other way round: a client that
   * listed them before the group was changed goes on calling them so. Only where one of them alone can be meant, and not
   * where a server of the group is switched off, for it may be that one.
   */
  get #former(): ReadonlyMap<string, NamedOffer> {
    if (this.#formerNames !== undefined) return this.#formerNames;
    const { form } = this.#options;
    const byName = new Map<string, NamedOffer | undefined>();
    const isComplete = this.#members.every(({ state }) => state !== "disabled");
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

  /** What a server without a listing would call it; undefined where its name may be hashed. */
  #ownName({ server }: Member, name: string): string | undefined {
    if (name.startsWith(`${server}:`)) return name.slice(server.length + 1);
    return findPlainTool(name, server, this.#options.form);
  }

  /** A name that several servers have, or a slip of the pen. It is never guessed, only explained. */
  #hint(name: string): string | undefined {
    const meant = this.available.filter(({ own }) => own === name).slice(0, 3);
    if (meant.length > 0) return `Call it as ${meant.map(({ exposed }) => exposed).join(" or ")}`;
    const near = closest(
      name,
      this.available.map(({ exposed }) => exposed),
    );
    return near === undefined ? undefined : `Did you mean ${near}?`;
  }
}

/** A name in another script than clients take is lost in the one that they get: model and user read it in the texts. */
function renamed({ own, definition }: Offer, exposed: string): JsonObject {
  if (/^[ -~]*$/.test(own)) return { ...definition, name: exposed };
  const { title, description } = definition;
  const text = typeof description === "string" && description !== "" ? `${own}: ${description}` : own;
  return { ...definition, name: exposed, title: typeof title === "string" ? title : own, description: text };
}
