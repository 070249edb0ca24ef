// The results of `initialize` and `server/discover`: capabilities, server info, and the instructions of the group's servers.

import type { Group } from "../catalog/group.ts";
import type { Supervisor } from "../servers/supervisor.ts";
import { META, MODERN_VERSION, SUPPORTED_VERSIONS } from "../protocol/revisions/era.ts";
import type { JsonObject } from "../lib/json/json.ts";
import { VERSION } from "../version.ts";
import { capabilitiesOf } from "./group-capabilities.ts";

const MAX_INSTRUCTIONS = 16_384;

export function initializeResult(version: string, group: Group, supervisor: Supervisor): JsonObject {
  return {
    protocolVersion: version,
    capabilities: capabilitiesOf(version, group, supervisor),
    serverInfo: serverInfo(group),
    ...instructions(group, supervisor),
  };
}

export function discoverResult(group: Group, supervisor: Supervisor): JsonObject {
  return {
    supportedVersions: SUPPORTED_VERSIONS,
    capabilities: capabilitiesOf(MODERN_VERSION, group, supervisor),
    ...instructions(group, supervisor),
    _meta: { [META.serverInfo]: serverInfo(group) },
  };
}

function serverInfo(group: Group): JsonObject {
  return { name: "plugboard", title: `Plugboard: ${group.name}`, version: VERSION };
}

/** The group's description and each server's instructions, with a heading if there are several servers. */
function instructions(group: Group, supervisor: Supervisor): { instructions?: string } {
  const members = new Set(group.servers);
  const own = supervisor.servers.flatMap(({ name, info: hello }) =>
    members.has(name) && hello?.instructions !== undefined ? [{ name, text: hello.instructions }] : [],
  );
  const parts = group.description === undefined ? [] : [group.description];
  for (const { name, text } of own) parts.push(group.servers.length === 1 ? text : `# ${name}\n${text}`);
  return parts.length === 0 ? {} : { instructions: parts.join("\n\n").slice(0, MAX_INSTRUCTIONS) };
}
