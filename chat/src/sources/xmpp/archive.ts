// Queries the message archive of an account or room (XEP-0313), page by page.

import { randomUUID } from "node:crypto";
import { xml, type Client } from "@xmpp/client";
import { SourceFailure } from "../failure.ts";
import { attr, bare, NS, type Element } from "./stanza.ts";

const QUERY_MS = 60_000;
export const PAGE = 100;

export interface ArchivedMessage {
  readonly id: string;
  readonly at: number;
  readonly message: Element;
}

export interface ArchivePage {
  /** Oldest first. */
  readonly messages: readonly ArchivedMessage[];
  readonly isLast: boolean;
}

export interface ArchiveQuery {
  readonly after?: string;
  /** Empty for the newest page. */
  readonly before?: string;
  readonly start?: number;
  readonly end?: number;
  readonly with?: string;
  readonly max?: number;
}

/** Undefined `room` means the account's archive. Resolves to undefined if the archive no longer knows `after` or `before`. */
export async function queryArchive(
  client: Client,
  room: string | undefined,
  query: ArchiveQuery,
): Promise<ArchivePage | undefined> {
  const queryId = randomUUID();
  const messages: ArchivedMessage[] = [];
  const onStanza = (stanza: Element): void => {
    // Check the sender: anyone can send a forged result.
    const from = attr(stanza, "from");
    const isOurs = room === undefined ? from === undefined || from === ownJid(client) : from === room;
    const result = stanza.is("message") && isOurs ? stanza.getChild("result", NS.mam) : undefined;
    if (attr(result, "queryid") !== queryId) return;
    const archived = parseResult(result);
    if (archived !== undefined) messages.push(archived);
  };
  client.on("stanza", onStanza);
  try {
    const to = room === undefined ? {} : { to: room };
    const answer = await client.iqCaller.request(
      xml("iq", { type: "set", ...to }, toElement(query, queryId)),
      QUERY_MS,
    );
    return { messages, isLast: attr(answer.getChild("fin", NS.mam), "complete") === "true" || messages.length === 0 };
  } catch (error) {
    if (conditionOf(error) === "item-not-found") return undefined;
    throw new SourceFailure("unreachable", `Could not read the archive (${conditionOf(error) ?? "no answer"})`);
  } finally {
    client.removeListener("stanza", onStanza);
  }
}

const ownJid = (client: Client): string => bare(String(client.jid));

export function conditionOf(error: unknown): string | undefined {
  return error instanceof Error && "condition" in error && typeof error.condition === "string"
    ? error.condition
    : undefined;
}

function parseResult(result: Element | undefined): ArchivedMessage | undefined {
  const forwarded = result?.getChild("forwarded", NS.forward);
  const message = forwarded?.getChild("message");
  const at = Date.parse(attr(forwarded?.getChild("delay", NS.delay), "stamp") ?? "");
  const id = attr(result, "id");
  return message === undefined || id === undefined || Number.isNaN(at) ? undefined : { id, at, message };
}

function toElement({ after, before, start, end, with: peer, max = PAGE }: ArchiveQuery, queryId: string): Element {
  const fields = [
    ["FORM_TYPE", NS.mam],
    ["start", start === undefined ? undefined : new Date(start).toISOString()],
    ["end", end === undefined ? undefined : new Date(end).toISOString()],
    ["with", peer],
  ] as const;
  const form = fields.flatMap(([name, value]) =>
    value === undefined ? [] : [xml("field", { var: name }, xml("value", {}, value))],
  );
  const set = [
    xml("max", {}, String(max)),
    ...(after === undefined ? [] : [xml("after", {}, after)]),
    ...(before === undefined ? [] : [xml("before", {}, before)]),
  ];
  return xml(
    "query",
    { xmlns: NS.mam, queryid: queryId },
    xml("x", { xmlns: NS.data, type: "submit" }, ...form),
    xml("set", { xmlns: NS.rsm }, ...set),
  );
}
