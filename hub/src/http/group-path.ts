// The path of a group's endpoint as shown to users. `/mcp/<group>` works too, but some clients replace a path that does not end in `/mcp`.

/** @example groupPath("dev") // "/groups/dev/mcp" */
export function groupPath(name: string): string {
  return `/groups/${encodeURIComponent(name)}/mcp`;
}

/** The path of a group's endpoint, and of the default group's if none is named. */
export function endpointPath(group: string | undefined): string {
  return group === undefined ? "/mcp" : groupPath(group);
}
