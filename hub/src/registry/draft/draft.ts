// Chooses the package or address of a server, and makes the draft of its entry. What the rules of the config would refuse is not
// offered, and the reason is kept.

import { requireDeclaredVariables } from "../../config/parse/allowed-env.ts";
import { requireCredentials } from "../../config/parse/env.ts";
import { normalizeServer } from "../../config/parse/normalize.ts";
import { findRisks } from "../../config/parse/risks.ts";
import { toName } from "../../entry-input/server-name.ts";
import { HubError } from "../../errors.ts";
import {
  OFFER_KINDS,
  type Draft,
  type Input,
  type Offer,
  type OfferKind,
  type ServerRecord,
  type Unusable,
} from "../model.ts";
import { fillEntry, type EntrySource, type FilledEntry } from "./fill.ts";
import { checkedValues, type GivenValue, type GivenValues } from "./values.ts";

export interface Drafts {
  /** Those that can be saved, the best first. */
  readonly drafts: readonly (Draft & { readonly offer: Offer })[];
  readonly unusable: readonly Unusable[];
}

/** What can be run on this machine; see `installedKinds`. */
export type Runnable = ReadonlySet<OfferKind>;

/** @param registry the name that `source` has in the entry. */
export function draftsOf(record: ServerRecord, registry: string, runnable: Runnable): Drafts {
  const drafts: (Draft & { readonly offer: Offer })[] = [];
  const unusable = [...record.unusable];
  for (const offer of record.offers) {
    const { kind, inputs } = offer;
    try {
      const drafted = { record, offer, registry, name: entryName(record) };
      requireAccepted(fill({ ...drafted, values: valuesFor(inputs, () => "value.example") }).entry);
      const { entry } = fill({ ...drafted, values: valuesFor(inputs, (name) => `<${name}>`), isPreview: true });
      const warnings = [...stateWarnings(record), ...offer.warnings, ...runWarnings(kind, runnable)];
      drafts.push({ kind, identifier: identifierOf(offer), entry, inputs, warnings, offer });
    } catch (thrown) {
      if (!(thrown instanceof HubError)) throw thrown;
      unusable.push({ kind, identifier: identifierOf(offer), reason: thrown.message });
    }
  }
  const rank = ({ kind }: Draft) => (runnable.has(kind) ? 0 : OFFER_KINDS.length) + OFFER_KINDS.indexOf(kind);
  return { drafts: drafts.toSorted((one, other) => rank(one) - rank(other)), unusable };
}

/** The draft to use. Throws with all reasons if there is none. */
export function chooseDraft(
  { name }: Pick<ServerRecord, "name">,
  { drafts, unusable }: Drafts,
  kind: OfferKind | undefined,
): Draft & { readonly offer: Offer } {
  const chosen = kind === undefined ? drafts[0] : drafts.find((draft) => draft.kind === kind);
  if (chosen !== undefined) return chosen;
  const reasons = unusable.map((each) => `${[each.kind, each.identifier].filter(Boolean).join(" ")}: ${each.reason}`);
  const others = [...new Set(drafts.map((draft) => draft.kind))];
  throw new HubError(
    "InvalidConfig",
    kind === undefined ? `${name} cannot be added` : `${name} cannot be added as ${kind}`,
    {
      field: "package",
      detail: reasons.join("\n") || `It has no package of kind ${kind}`,
      ...(others.length === 0 ? {} : { hint: `--package ${others.join(" or --package ")}` }),
    },
  );
}

export interface AddRequest {
  readonly record: ServerRecord;
  readonly registry: string;
  readonly offer: Offer;
  /** Of the entry. */
  readonly name: string;
  readonly values: GivenValues;
  readonly secretName: (variable: string) => string;
}

/** The entry of a draft with the given values. Throws for a value that is missing or wrong (MC-NT4). */
export function completeDraft({ values, ...request }: AddRequest): FilledEntry {
  return fill({ ...request, values: checkedValues(request.offer.inputs, values) });
}

interface Filling extends Omit<AddRequest, "values" | "secretName"> {
  readonly values: ReadonlyMap<string, GivenValue>;
  readonly secretName?: (variable: string) => string;
  readonly isPreview?: boolean;
}

function fill({ record, registry, secretName = (variable) => variable, ...rest }: Filling): FilledEntry {
  const source: EntrySource = { registry, name: record.name, version: record.version };
  return fillEntry({ ...rest, description: record.description, source, secretName });
}

/** The suggested name of the entry: `io.github.upstash/context7-mcp` becomes context7. */
export function entryName({ name }: Pick<ServerRecord, "name">): string {
  const last = name.slice(name.lastIndexOf("/") + 1);
  return toName(/^(?:mcp|server|mcp-server)$/i.test(last) ? name.replace(/^[^/]*\./, "") : last);
}

/** For what would be run: required inputs as `stand` says, others as their default says. */
function valuesFor(inputs: readonly Input[], stand: (name: string) => string): Map<string, GivenValue> {
  const values = new Map<string, GivenValue>();
  for (const { name, isRequired, default: fallback, choices } of inputs) {
    if (fallback !== undefined) values.set(name, fallback);
    else if (isRequired) values.set(name, choices?.[0] ?? stand(name));
  }
  return values;
}

/** What a save would check. */
function requireAccepted(entry: Readonly<Record<string, unknown>>): void {
  const server = normalizeServer(undefined, entry);
  requireCredentials(server);
  requireDeclaredVariables(server, undefined, {});
  const [risk] = findRisks(server);
  if (risk !== undefined) throw new HubError("InvalidConfig", `It is not allowed here: ${risk.reason}`);
}

function identifierOf(offer: Offer): string {
  if (offer.kind !== "remote") return offer.identifier;
  return offer.url.map((piece) => (typeof piece === "string" ? piece : `{${piece.input}}`)).join("");
}

function stateWarnings({ state, name }: ServerRecord): string[] {
  return state === "active" ? [] : [`${name} is ${state}: its author advises against it`];
}

const PROGRAMS: Readonly<Record<OfferKind, string | undefined>> = {
  npm: "npx",
  pypi: "uvx",
  oci: "docker",
  remote: undefined,
};

function runWarnings(kind: OfferKind, runnable: Runnable): string[] {
  return runnable.has(kind) ? [] : [`${PROGRAMS[kind] ?? kind} is not installed on this machine`];
}
