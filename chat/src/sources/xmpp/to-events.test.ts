import { xml } from "@xmpp/client";
import { expect, it } from "vitest";
import { References } from "./references.ts";
import { contextOf, Reactions, toEvents } from "./to-events.ts";

it("emits read markers of the user, not those of others", () => {
  const reader = { self: "me@x", references: new References(), reactions: new Reactions(), origin: "live" } as const;
  const read = (from: string, to: string, id: string, ...children: ReturnType<typeof xml>[]) => {
    const message = xml("message", { from, to, id: `name-${id}`, type: "chat" }, ...children);
    const place = contextOf(message, reader);
    return place === undefined ? [] : toEvents({ message, id, at: 5 }, place, reader);
  };
  const displayed = xml("displayed", { xmlns: "urn:xmpp:chat-markers:0", id: "name-1" });
  read("ann@x/phone", "me@x", "1", xml("body", {}, "hi"));
  expect(read("me@x/phone", "ann@x", "2", displayed)).toEqual([{ type: "read", chat: "ann@x", id: "1", at: 5 }]);
  expect(read("ann@x/phone", "me@x", "3", displayed)).toEqual([]);
});
