// Methods that only an extension has (`skills/list`, `com.example/board/move`): which server of a group one is meant for.
// Undefined where that cannot be told; the hub itself knows no extension's methods but those of tasks.

import type { Group } from "../catalog/group.ts";
import type { Supervisor } from "../servers/supervisor.ts";
import type { JsonObject } from "../wire/json.ts";
import type { Exchange } from "../wire/server.ts";
import { extensionsOf, introductions } from "./announced.ts";

export interface Destination {
  readonly server: string;
  /** What the server knows by another name than the client. */
  readonly replace: JsonObject;
}

/** One that stands among the methods of the protocol itself. */
const ELSEWHERE: ReadonlyMap<string, string> = new Map([
  ["resources/directory/read", "io.modelcontextprotocol/skills"],
]);
/** What the protocol itself has never belongs to an extension, also where the client's revision does not have it. */
const OWN_PREFIXES: ReadonlySet<string> = new Set(
  "completion elicitation logging notifications prompts resources roots sampling server subscriptions tasks tools".split(
    " ",
  ),
);

export function findExtensionServer(
  { request, era }: Exchange,
  group: Group,
  supervisor: Supervisor,
): Destination | undefined {
  const candidates = introductions(group, supervisor)
    .filter((server) => server.era === era && Object.keys(extensionsOf(server)).some((id) => has(id, request.method)))
    .map(({ server }) => server);
  const uri = request.params?.value["uri"];
  const owner = typeof uri === "string" ? group.findResourceOwner(uri) : undefined;
  if (owner !== undefined && candidates.includes(owner.server)) {
    return { server: owner.server, replace: { uri: owner.uri } };
  }
  const [only] = candidates;
  return only === undefined || candidates.length > 1 ? undefined : { server: only, replace: {} };
}

/** Whether a method is one of an extension: it begins with its id, or with the id's last part. */
function has(id: string, method: string): boolean {
  const elsewhere = ELSEWHERE.get(method);
  if (elsewhere !== undefined) return elsewhere === id;
  const [prefix = ""] = method.split("/");
  const name = id.slice(id.lastIndexOf("/") + 1);
  return method.startsWith(`${id}/`) || (method.startsWith(`${name}/`) && !OWN_PREFIXES.has(prefix));
}
