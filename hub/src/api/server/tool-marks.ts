// The tools of a server as the API shows them: with what is suspicious about them, and what changed since they were approved.

import { describeChanges, warningsAbout } from "../../approval/tool-changes.ts";
import type { JsonObject } from "../../lib/json/json.ts";
import type { ManagedServer } from "../../servers/server.ts";
import type { Tool } from "../schemas/tool.ts";
import type { Core } from "./core.ts";
import { toTool, withFlags } from "./view.ts";

export interface MarkedTools {
  readonly toolOf: (definition: JsonObject) => Tool;
  /** About changes of the tools. */
  readonly warnings: readonly string[];
}

export function toolsOf(
  { serverApprovals: approvals, catalog }: Pick<Core, "serverApprovals" | "catalog">,
  server: ManagedServer,
): MarkedTools {
  const { config, name, listing } = server;
  const tools = listing?.tools ?? [];
  const { changes, damaged } = approvals.judge(config, tools);
  const withheld = approvals.withheld(config, tools);
  const pins = approvals.recordOf(name)?.pins ?? new Map();
  const described = describeChanges(changes, { pins, tools, withheld: withheld !== undefined });
  return {
    toolOf: (definition) => {
      const tool = String(definition["name"]);
      const change = changes.get(tool);
      return toTool(definition, {
        ...withFlags(catalog.flagsOf(name, definition)),
        ...(change === undefined ? {} : { approval: change }),
        ...(withheld?.has(tool) === true ? { withheld: true } : {}),
      });
    },
    warnings: [
      ...(damaged === undefined
        ? []
        : [`${damaged}: its tools are withheld until approved: plugboard approve ${name}`]),
      ...warningsAbout(described),
    ],
  };
}
