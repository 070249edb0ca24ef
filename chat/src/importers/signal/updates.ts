// Text of Signal's system messages. The three dozen kinds of group changes are described by their field names.

import { type Fields, fieldsOf, listOf, numberOf, textOf } from "../fields.ts";

export function isCall(update: Fields): boolean {
  return update["individualCall"] !== undefined || update["groupCall"] !== undefined;
}

export function updateWords(update: Fields): string {
  const call = fieldsOf(update["individualCall"]);
  if (call !== undefined) return callWords(call);
  const groupCall = fieldsOf(update["groupCall"]);
  if (groupCall !== undefined) return ["Group call", state(groupCall)].filter(Boolean).join(", ");
  const change = fieldsOf(update["groupChange"]);
  if (change !== undefined)
    return listOf(change["updates"])
      .map((one) => changeWords(fieldsOf(one) ?? {}))
      .join("; ");
  const profile = fieldsOf(update["profileChange"]);
  if (profile !== undefined)
    return `${textOf(profile["previousName"]) ?? ""} is now ${textOf(profile["newName"]) ?? ""}`;
  const timer = fieldsOf(update["expirationTimerChange"]);
  if (timer !== undefined) return timerWords(numberOf(timer["expiresInMs"]) ?? 0);
  const simple = fieldsOf(update["simpleUpdate"]);
  if (simple !== undefined) return sentence(textOf(simple["type"]) ?? "update");
  return sentence(Object.keys(update)[0] ?? "update");
}

function callWords(call: Fields): string {
  const isVideo = call["type"] === "VIDEO_CALL" || call["type"] === 2;
  return [isVideo ? "Video call" : "Call", state(call)].filter(Boolean).join(", ");
}

function state(call: Fields): string {
  return (textOf(call["state"]) ?? "").toLowerCase().replaceAll("_", " ");
}

function timerWords(ms: number): string {
  return ms === 0 ? "Disappearing messages were switched off" : `Messages disappear after ${ms / 1000} s`;
}

function changeWords(update: Fields): string {
  const [kind = "genericGroupUpdate"] = Object.keys(update);
  const fields = fieldsOf(update[kind]) ?? {};
  const detail = textOf(fields["newGroupName"]) ?? textOf(fields["newDescription"]);
  return [sentence(kind.replace(/Update$/, "")), detail].filter((part) => part !== undefined).join(": ");
}

/** Turns `groupMemberLeft` and `JOINED_SIGNAL` into words. */
function sentence(name: string): string {
  const words = /^[A-Z_]+$/.test(name) ? name : name.replaceAll(/(?=[A-Z])/g, " ");
  const plain = words.toLowerCase().replaceAll("_", " ").trim();
  return plain.charAt(0).toUpperCase() + plain.slice(1);
}
