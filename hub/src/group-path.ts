// Where a group's endpoint is. The hub answers at `/mcp/<group>` as well; this is the form that is shown, since some clients
// replace any path that does not end in `/mcp`.

/** @example groupPath("work") // "/groups/work/mcp" */
export function groupPath(name: string): string {
  return `/groups/${encodeURIComponent(name)}/mcp`;
}
