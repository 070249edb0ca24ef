// The list of a group's tools as clients of each revision get it: made once for each snapshot. Nearly always the same bytes
// for all of them.

import type { Group } from "../catalog/group.ts";
import { listJson } from "../catalog/listing.ts";
import { toolFor, toolFormOf, type ToolForm } from "../wire/tool-era.ts";

export class ToolLists {
  readonly #made = new WeakMap<Group, Map<ToolForm, Buffer>>();

  json(group: Group, version: string): Buffer {
    const form = toolFormOf(version);
    const made = this.#made.get(group) ?? new Map<ToolForm, Buffer>();
    this.#made.set(group, made);
    const known = made.get(form);
    if (known !== undefined) return known;
    const json = toJson(group, form);
    made.set(form, json);
    return json;
  }
}

function toJson(group: Group, form: ToolForm): Buffer {
  const tools = group.tools.map(({ definition }) => toolFor(definition, form));
  const isSame = tools.every((tool, index) => tool === group.tools[index]?.definition);
  return isSame ? group.toolsJson : listJson(tools);
}
