// Reactions: how many of each, and of the latest ones, whose.

import type { NativeReaction } from "../../source.ts";
import { fieldsOf, listOf, numberOf, textOf } from "../fields.ts";
import type { Zone } from "../../zone.ts";
import { parseWallTime } from "../wall-clock.ts";
import { peerId } from "./peers.ts";

/** For a sign that is a picture of its own: which one, the export does not tell in words. */
const CUSTOM = "🧩";
const PAID = "⭐";

export function reactionsOf(reactions: unknown, zone: Zone): readonly NativeReaction[] {
  return listOf(reactions).flatMap((reaction) => {
    const fields = fieldsOf(reaction);
    if (fields === undefined) return [];
    const emoji = textOf(fields["emoji"]) ?? (fields["type"] === "paid" ? PAID : CUSTOM);
    const told = listOf(fields["recent"]).flatMap((one) => recentOf(one, emoji, zone));
    const others = (numberOf(fields["count"]) ?? 0) - told.length;
    return others > 0 ? [...told, { emoji, count: others }] : told;
  });
}

function recentOf(recent: unknown, emoji: string, zone: Zone): NativeReaction[] {
  const fields = fieldsOf(recent);
  const by = textOf(fields?.["from_id"]);
  if (by === undefined) return [];
  const wall = parseWallTime(textOf(fields?.["date"]) ?? "");
  return [{ emoji, by: peerId(by), ...(wall !== undefined && { at: zone.instant(wall) }) }];
}
