// `plugboard search` and `plugboard info`: servers in registries, and what one of them needs.

import type { ShownConfig } from "../../api/schemas/server.ts";
import type { RegistryDraft, RegistryServer, RegistryServerSummary } from "../../api/schemas/registry.ts";
import { isObject } from "../../lib/json/json.ts";
import { parseRegistryTarget, REGISTRY_PREFIX } from "../input/registry-target.ts";
import { withAccess } from "../hub-access/hub-access.ts";
import type { GlobalOptions } from "../io.ts";
import type { Register } from "../command.ts";
import type { Output } from "../terminal/output.ts";
import { waiting } from "../terminal/spinner.ts";
import { span } from "../terminal/times.ts";

interface SearchOptions extends GlobalOptions {
  readonly registry?: string;
  readonly cursor?: string;
  readonly limit: string;
}

const REGISTRY = ["--registry <name>", "only this registry, by its name, address or folder"] as const;

export const searchCommand: Register = (program, { io }) => {
  program
    .command("search")
    .description("search servers in registries")
    .argument("[words...]", "words that name, title or description must have; without any: all servers")
    .option(...REGISTRY)
    .option("--limit <count>", "how many of each registry", "30")
    .option("--cursor <cursor>", "continue a search")
    .action(async (words: string[], options: SearchOptions) => {
      await withAccess(io, options, async ({ api, out }) => {
        const query = words.join(" ");
        const { registry, cursor } = options;
        const limit = Number(options.limit) || undefined;
        const found = await waiting(
          io,
          out,
          "searching",
          api.registry.search({
            query,
            registry,
            cursor,
            limit: limit === undefined ? undefined : Math.min(limit, 100),
          }),
        );
        if (out.json) return out.data(found);
        sayProblems(out, found.registries);
        for (const { registry: name, error } of found.registries) {
          if (error !== null) out.warn(`${name} could not be searched: ${error.message}`);
        }
        if (found.servers.length === 0) return out.print(`No server found for ${JSON.stringify(query)}.`);
        out.table([["NAME", "VERSION", "KIND", "REGISTRY", "DESCRIPTION"], ...found.servers.map(toRow)]);
        if (found.next_cursor !== null) out.note(`More: plugboard search ${query} --cursor ${found.next_cursor}`);
      });
    });
};

export const infoCommand: Register = (program, { io }) => {
  program
    .command("info")
    .description("show a server of a registry: what would be run, and what it needs")
    .argument("<name>", "its name in the registry; NAME@VERSION: this version")
    .option(...REGISTRY)
    .action(async (given: string, options: SearchOptions) => {
      const typed = given.startsWith(REGISTRY_PREFIX) ? given.slice(REGISTRY_PREFIX.length) : given;
      const { name, version } = parseRegistryTarget(typed);
      await withAccess(io, options, async ({ api, out }) => {
        const { registry } = options;
        const found = await waiting(io, out, `looking for ${name}`, api.registry.get(name, { registry, version }));
        if (out.json) return out.data(found);
        sayProblems(out, [found]);
        show(out, found);
      });
    });
};

interface Seen {
  readonly registry: string;
  readonly seen_at: string | null;
  readonly problem: string | null;
}

/** Says how old the answers of unreachable registries are. */
export function sayProblems(out: Output, answers: readonly Seen[]): void {
  for (const { registry, seen_at, problem } of answers) {
    if (problem === null || out.json) continue;
    const old = seen_at === null ? "" : `; showing what was seen ${span(Date.now() - Date.parse(seen_at))} ago`;
    out.warn(`${registry} could not be reached: ${problem}${old}`);
  }
}

function toRow({
  name,
  version,
  kinds,
  registry,
  description,
  title,
  state,
  added_as,
}: RegistryServerSummary): string[] {
  const marks = [
    ...(state === "active" ? [] : [`${state}: `]),
    ...(added_as.length === 0 ? [] : [`added as ${added_as.join(", ")}: `]),
  ];
  return [name, shortVersion(version), kinds.join(" "), registry, `${marks.join("")}${description ?? title ?? ""}`];
}

/** A digest or commit is cut. */
function shortVersion(version: string | null): string {
  if (version === null) return "-";
  return /^(?:sha256:)?[0-9a-f]{12,}$/.test(version) ? version.replace("sha256:", "").slice(0, 12) : version;
}

function show(out: Output, server: RegistryServer): void {
  const { name, version, title, description, registry, website, repository, updated_at, state, added_as } = server;
  const facts: (readonly [string, string | null])[] = [
    ["Title", title],
    ["Version", version],
    ["Registry", registry],
    ["State", state === "active" ? null : state],
    ["Website", website],
    ["Repository", repository],
    ["Updated", updated_at],
    ["Added as", added_as.length === 0 ? null : added_as.join(", ")],
  ];
  out.printForeign([name, ...(description === null ? [] : [description]), ""].join("\n"));
  out.table(facts.flatMap(([what, value]) => (value === null ? [] : [[what, value]])));
  for (const draft of server.drafts) showDraft(out, draft);
  for (const { kind, identifier, reason } of server.unusable) {
    out.note(`Not usable: ${[kind, identifier].filter((word) => word !== "").join(" ")}: ${reason}`);
  }
  const [first] = server.drafts;
  if (first === undefined) return;
  const needed = first.inputs.filter((input) => input.required && input.default === null);
  out.note([`Add it: plugboard add registry:${name}`, ...needed.map((input) => `--set ${input.name}=…`)].join(" "));
}

function showDraft(out: Output, { package: kind, entry, inputs, warnings }: RegistryDraft): void {
  out.printForeign(`\n${kind}: ${commandLineOf(isObject(entry) ? entry : {})}`);
  if (inputs.length > 0) {
    out.table([
      ["INPUT", "", "DEFAULT", "DESCRIPTION"],
      ...inputs.map(({ name, required, secret, default: fallback, choices, description }) => [
        name,
        [...(required ? ["required"] : []), ...(secret ? ["secret"] : [])].join(", ") || "optional",
        fallback ?? "",
        [...(description === null ? [] : [description]), ...(choices.length === 0 ? [] : [choices.join(" | ")])].join(
          " ",
        ),
      ]),
    ]);
  }
  for (const warning of warnings) out.warn(warning);
}

/** What an entry runs, or its address. */
export function commandLineOf({ command, args, url }: Readonly<Record<string, unknown>> | ShownConfig): string {
  if (typeof url === "string") return url;
  const words = Array.isArray(args) ? args.filter((word) => typeof word === "string") : [];
  return [...(typeof command === "string" ? [command] : []), ...words].join(" ");
}
