// The serialized tool list of a group for each form of revisions, cached per snapshot. Nearly always the same bytes for all forms.

import type { Group } from "../../catalog/group.ts";
import { listJson } from "../../catalog/listing.ts";
import { toolFor, toolFormOf, type ToolForm } from "../../protocol/revisions/tool-era.ts";

export class ToolLists {
  readonly #cache = new WeakMap<Group, Map<ToolForm, Buffer>>();

  json(group: Group, version: string): Buffer {
    const form = toolFormOf(version);
    const cached = this.#cache.get(group) ?? new Map<ToolForm, Buffer>();
    this.#cache.set(group, cached);
    const known = cached.get(form);
    if (known !== undefined) return known;
    const json = toJson(group, form);
    cached.set(form, json);
    return json;
  }
}

function toJson(group: Group, form: ToolForm): Buffer {
  const tools = group.listed.map((definition) => toolFor(definition, form));
  const isSame = tools.every((tool, index) => tool === group.listed[index]);
  return isSame ? group.toolsJson : listJson(tools);
}
