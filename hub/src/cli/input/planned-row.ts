// A server that is about to be imported, as a row of a table: what a person confirms is what the hub will run.

import type { PlannedServer } from "../../client-configs/import/plan.ts";

/** The entry without values that could be credentials. */
export function rowOf({ name, from, entry }: PlannedServer, hide: (args: string[]) => string[]): string[] {
  const { url, command, args } = entry;
  const words = Array.isArray(args) ? hide(args.filter((arg) => typeof arg === "string")) : [];
  const program = typeof command === "string" ? [command, ...words].join(" ") : "";
  return [
    `  ${name}`,
    from.file.client.id,
    entry["enabled"] === false ? "off" : "",
    typeof url === "string" ? originOf(url) : program,
  ];
}

function originOf(url: string): string {
  return URL.canParse(url) ? new URL(url).origin : "a url";
}
