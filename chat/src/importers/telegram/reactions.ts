// Reactions: a count per emoji, and the people of the most recent ones.

import type { NativeReaction } from "../../model/source.ts";
import { fieldsOf, listOf, numberOf, textOf } from "../fields.ts";
import type { Zone } from "../../model/zone.ts";
import { parseWallTime } from "../wall-clock.ts";
import { peerId } from "./peers.ts";

/** Stands for a custom emoji, which the export does not name. */
const CUSTOM = "🧩";
const PAID = "⭐";

export function reactionsOf(reactions: unknown, zone: Zone): readonly NativeReaction[] {
  return listOf(reactions).flatMap((reaction) => {
    const fields = fieldsOf(reaction);
    if (fields === undefined) return [];
    const emoji = textOf(fields["emoji"]) ?? (fields["type"] === "paid" ? PAID : CUSTOM);
    const named = listOf(fields["recent"]).flatMap((one) => recentOf(one, emoji, zone));
    const others = (numberOf(fields["count"]) ?? 0) - named.length;
    return others > 0 ? [...named, { emoji, count: others }] : named;
  });
}

function recentOf(recent: unknown, emoji: string, zone: Zone): NativeReaction[] {
  const fields = fieldsOf(recent);
  const by = textOf(fields?.["from_id"]);
  if (by === undefined) return [];
  const wall = parseWallTime(textOf(fields?.["date"]) ?? "");
  return [{ emoji, by: peerId(by), ...(wall !== undefined && { at: zone.instant(wall) }) }];
}
