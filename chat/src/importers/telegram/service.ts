// Text of Telegram's service messages (joins, calls, renames). Unknown actions are described by their name.

import { type Fields, listOf, numberOf, textOf } from "../fields.ts";

const WORDS: ReadonlyMap<string, (service: Fields) => string> = new Map<string, (service: Fields) => string>([
  ["create_group", (service) => `created the group ${title(service)}${members(service, " with ")}`],
  ["create_channel", (service) => `created the channel ${title(service)}`],
  ["edit_group_title", (service) => `changed the name to ${title(service)}`],
  ["edit_group_photo", () => "changed the photo"],
  ["delete_group_photo", () => "removed the photo"],
  ["invite_members", (service) => `added ${members(service, "")}`],
  ["remove_members", (service) => `removed ${members(service, "")}`],
  ["join_group_by_link", () => "joined by a link"],
  ["join_group_by_request", () => "joined by a request"],
  ["joined_telegram", () => "joined Telegram"],
  ["pin_message", () => "pinned a message"],
  ["clear_history", () => "cleared the history"],
  ["take_screenshot", () => "took a screenshot"],
  ["topic_created", (service) => `created the topic ${title(service)}`],
  ["migrate_from_group", (service) => `converted the group ${title(service)} to a supergroup`],
  ["phone_call", (service) => callWords("called", service)],
  ["group_call", (service) => callWords("started a group call", service)],
]);

const CALLS: readonly string[] = ["phone_call", "group_call"];

export function isCall(service: Fields): boolean {
  return CALLS.includes(textOf(service["action"]) ?? "");
}

export function serviceWords(service: Fields): string {
  const action = textOf(service["action"]);
  const words =
    WORDS.get(action ?? "")?.(service) ?? textOf(service["information_text"]) ?? action?.replaceAll("_", " ");
  return [textOf(service["actor"]), words].filter((part) => part !== undefined).join(" ");
}

function title(service: Fields): string {
  return `“${textOf(service["title"]) ?? ""}”`;
}

function members(service: Fields, before: string): string {
  const names = listOf(service["members"]).map((name) => textOf(name) ?? "somebody");
  return names.length === 0 ? "" : `${before}${names.join(", ")}`;
}

function callWords(what: string, service: Fields): string {
  const seconds = numberOf(service["duration_seconds"] ?? service["duration"]);
  const outcome = seconds === undefined ? textOf(service["discard_reason"]) : `${seconds} s`;
  return outcome === undefined ? what : `${what} (${outcome})`;
}
