// Previews of groups: what clients would see, compared with the saved group.

import { previewGroup, type PreviewedTool } from "../../../catalog/preview.ts";
import { TokenCounts } from "../../../catalog/tokens.ts";
import { CLIENTS, clientsWithFewerTools } from "../../../client-configs/client-table.ts";
import { normalizeGroup } from "../../../config/parse/normalize.ts";
import type { GroupPreview, GroupPreviewInput } from "../../schemas/group.ts";
import type { Managed } from "../core.ts";

/** Any name that is valid and that no server's entry is likely to have. */
const UNNAMED = "new-group";

export class GroupPreviews {
  readonly #managed: Managed;
  readonly #tokens = new TokenCounts();

  constructor(managed: Managed) {
    this.#managed = managed;
  }

  of({ name, servers, tools, exposure }: GroupPreviewInput): GroupPreview {
    const { catalog, configuration, supervisor } = this.#managed.hub;
    const group = normalizeGroup(name ?? UNNAMED, { servers, tools, exposure });
    const preview = previewGroup(configuration.current, supervisor.listings(), group);
    const saved = name !== undefined && catalog.groupNames.includes(name) ? catalog.group(name) : undefined;
    const before = new Map(saved?.tools.map((tool) => [keyOf(tool), tool.exposed]));
    const shown = preview.tools.map((tool) => this.#shown(tool, before.get(keyOf(tool))));
    const listed = { tools: shown.length, isSearched: preview.isSearched };
    const overfull = new Set(clientsWithFewerTools(listed).map(({ client }) => client));
    const kept = new Set(preview.tools.map(keyOf));
    return {
      tools: shown,
      hidden: preview.hidden.map(({ server, tool, definition, rule = null }) => ({
        server,
        tool,
        tokens: this.#tokens.of(definition),
        rule,
      })),
      removed: [...before].filter(([key]) => !kept.has(key)).map(([, exposed]) => exposed),
      tool_count: shown.length,
      tokens: shown.reduce((sum, { tokens }) => sum + tokens, 0),
      is_searched: preview.isSearched,
      saved:
        saved === undefined
          ? null
          : {
              tool_count: saved.tools.length,
              tokens: this.#tokens.sum(saved.tools.map(({ definition }) => definition)),
            },
      misfits: [...preview.misfits],
      warnings: [...preview.warnings, ...renameWarnings(shown)],
      clients: CLIENTS.flatMap(({ id, name: title, toolLimit: limit }) =>
        limit === undefined ? [] : [{ client: id, title, limit, fits: !overfull.has(id) }],
      ),
    };
  }

  #shown(
    { exposed, server, tool, definition, rule }: PreviewedTool,
    was: string | undefined,
  ): GroupPreview["tools"][number] {
    const isRenamed = was !== undefined && was !== exposed;
    return {
      name: exposed,
      server,
      tool,
      tokens: this.#tokens.of(definition),
      rule: rule ?? null,
      change: was === undefined ? "new" : isRenamed ? "renamed" : "same",
      was: isRenamed ? was : null,
    };
  }
}

/** Names have the server in front only in a group of several servers. */
function renameWarnings(tools: GroupPreview["tools"]): string[] {
  const renamed = tools.filter(({ change }) => change === "renamed");
  const [first] = renamed;
  if (first === undefined) return [];
  const what = renamed.length === 1 ? "1 tool gets" : `${renamed.length} tools get`;
  return [`${what} another name, such as ${first.name} in place of ${first.was ?? ""}`];
}

function keyOf({ server, tool }: { readonly server: string; readonly tool: string }): string {
  return JSON.stringify([server, tool]);
}
