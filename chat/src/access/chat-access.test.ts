// The rules in chat.json that a change of one chat's access leads to.

import { describe, expect, it } from "vitest";
import type { SourceInput } from "../config/file.ts";
import { accessOf, withAccess, type AccessLevel } from "./chat-access.ts";
import { Visibility, type NamedChat } from "./visibility.ts";
import { Zone } from "../model/zone.ts";

const named = (id: string, name: string, more: Partial<NamedChat> = {}): NamedChat => ({
  source: "s",
  id,
  name,
  otherIds: [],
  otherNames: [],
  ...more,
});
const WORK = named("1", "Work");
const OTHER_WORK = named("2", "work");
const CLUB = named("3", "Book club", { otherIds: ["33"], otherNames: ["Readers"] });
const ALL = [WORK, OTHER_WORK, CLUB];

const change = (entry: SourceInput, level: AccessLevel, chat: NamedChat) =>
  withAccess(entry, level, { chat, others: ALL.filter((other) => other !== chat) });

/** The access of all three, as the server decides it. */
function accessOfAll({ chats = {}, send }: SourceInput): string[] {
  const rules = new Map([["s", chats]]);
  const visibility = new Visibility({ rules, clock: { now: Date.now, zone: new Zone("UTC") } });
  const full = send === undefined ? undefined : { chats: send.chats ?? [], others: send.others ?? "refuse" };
  return ALL.map((chat) => accessOf(chat, { isShown: visibility.shows(chat), canSend: true, send: full }));
}

describe("access to a chat", () => {
  it.each<[string, SourceInput, AccessLevel, NamedChat, string[]]>([
    ["hides one", { kind: "x" }, "hidden", WORK, ["hidden", "readable", "readable"]],
    ["shows it again", { kind: "x", chats: { hide: ["1"] } }, "readable", WORK, ["readable", "readable", "readable"]],
    [
      "shows one of two chats that a name hides",
      { kind: "x", chats: { hide: ["WORK"] } },
      "readable",
      WORK,
      ["readable", "hidden", "readable"],
    ],
    [
      "shows a chat that is hidden by a former name",
      { kind: "x", chats: { hide: ["readers"] } },
      "readable",
      CLUB,
      ["readable", "readable", "readable"],
    ],
    [
      "adds to an allow list",
      { kind: "x", chats: { allow: ["3"] } },
      "readable",
      WORK,
      ["readable", "hidden", "readable"],
    ],
    [
      "hides one that is allowed",
      { kind: "x", chats: { allow: ["3"] } },
      "hidden",
      CLUB,
      ["hidden", "hidden", "hidden"],
    ],
    ["lets agents write", { kind: "x" }, "writable", CLUB, ["readable", "readable", "writable"]],
    [
      "lets agents write to a hidden one",
      { kind: "x", chats: { hide: ["Book club"] } },
      "writable",
      CLUB,
      ["readable", "readable", "writable"],
    ],
    [
      "takes writing away by another id",
      { kind: "x", send: { chats: ["33", "Work"] } },
      "readable",
      CLUB,
      ["writable", "readable", "readable"],
    ],
  ])("%s", (_, entry, level, chat, expected) => {
    expect(accessOfAll(change(entry, level, chat))).toEqual(expected);
  });

  it("a chat that was hidden is not writable when it is shown again", () => {
    const hidden = change({ kind: "x", send: { chats: ["1"] } }, "hidden", WORK);
    expect(accessOfAll(change(hidden, "readable", WORK))).toEqual(["readable", "readable", "readable"]);
  });

  it("leaves everything else as it is written, and no empty rules", () => {
    const entry: SourceInput = { kind: "x", name: "Mine", options: { url: "u" } };
    expect(change(change(entry, "writable", WORK), "readable", WORK)).toEqual(entry);
    const asks: SourceInput = { kind: "x", send: { others: "ask" } };
    expect(change(change(asks, "writable", WORK), "readable", WORK)).toEqual({
      kind: "x",
      send: { others: "ask", chats: [] },
    });
  });
});
