// Stanza helpers and namespaces.

import { xml } from "@xmpp/client";

export type Element = ReturnType<typeof xml>;

export const NS = {
  carbons: "urn:xmpp:carbons:2",
  correct: "urn:xmpp:message-correct:0",
  data: "jabber:x:data",
  delay: "urn:xmpp:delay",
  disco: "http://jabber.org/protocol/disco#info",
  fallback: "urn:xmpp:fallback:0",
  fasten: "urn:xmpp:fasten:0",
  forward: "urn:xmpp:forward:0",
  mam: "urn:xmpp:mam:2",
  markers: "urn:xmpp:chat-markers:0",
  muc: "http://jabber.org/protocol/muc",
  mucUser: "http://jabber.org/protocol/muc#user",
  omemo: "eu.siacs.conversations.axolotl",
  omemo2: "urn:xmpp:omemo:2",
  oob: "jabber:x:oob",
  ping: "urn:xmpp:ping",
  reactions: "urn:xmpp:reactions:0",
  reply: "urn:xmpp:reply:0",
  retract0: "urn:xmpp:message-retract:0",
  retract1: "urn:xmpp:message-retract:1",
  roster: "jabber:iq:roster",
  rsm: "http://jabber.org/protocol/rsm",
  sid: "urn:xmpp:sid:0",
} as const;

export function attr(element: Element | undefined, name: string): string | undefined {
  const value: unknown = element?.attrs[name];
  return typeof value === "string" ? value : undefined;
}

/** JID without resource. */
export const bare = (jid: string): string => jid.split("/", 1)[0] ?? jid;

/** Resource of a JID; in a room, the nickname. */
export function resource(jid: string): string {
  const slash = jid.indexOf("/");
  return slash < 0 ? "" : jid.slice(slash + 1);
}

/** Archive id of a live message, only if assigned by this archive. */
export function stanzaId(message: Element, by: string): string | undefined {
  const own = message.getChildren("stanza-id", NS.sid).find((child) => attr(child, "by") === by);
  return attr(own, "id");
}

/** Id given by the sender. */
export const senderId = (message: Element): string | undefined =>
  attr(message.getChild("origin-id", NS.sid), "id") ?? attr(message, "id");
