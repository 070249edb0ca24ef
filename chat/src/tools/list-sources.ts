// `list_sources`: what is configured, and whether it is connected.

import { z } from "zod";
import type { Reader } from "../reader.ts";
import { SourceShape, type SourceJson } from "../shapes.ts";
import { tool } from "./tool.ts";

const MAX_GAPS = 10;

export const listSources = tool({
  name: "list_sources",
  title: "List chat sources",
  description:
    "Lists the configured chat sources (Telegram, Signal, WhatsApp and others) with their connection status, how much is " +
    "stored of each and from when to when. Start here: the other tools take a source's id.",
  input: z.strictObject({}),
  output: z.object({ sources: z.array(SourceShape) }),
  run: (_, { app: { reader } }) => {
    const sources = toSources(reader);
    const lines = sources.map(
      ({ id, name, status, chat_count: chats, message_count: messages, live }) =>
        `${id}: ${name}, ${status}, ${chats} chats, ${messages} messages, ${live ? "live" : "imported"}`,
    );
    return { structured: { sources }, text: lines.length === 0 ? "(no sources are configured)" : lines.join("\n") };
  },
});

export function toSources(reader: Reader): SourceJson[] {
  const { sources, outgoing } = reader;
  return sources.all.map(({ source, sendTo }) => {
    const state = sources.state(source.id);
    const { chats, messages, oldestAt, newestAt } = reader.totals(source.id);
    // Those of single chats are left out: the chat may be one that is not shown.
    const gaps = reader.store
      .gaps(source.id, MAX_GAPS)
      .filter(({ chat }) => chat === null)
      .map(({ from, to, reason }) => ({
        from: outgoing.time(from),
        to: outgoing.time(to),
        reason: outgoing.text(reason),
      }));
    return {
      id: source.id,
      name: outgoing.name(source.name),
      kind: source.kind,
      is_connected: state.status === "connected",
      status: state.status,
      ...("message" in state
        ? { message: outgoing.text(state.message), how_to_connect: outgoing.text(state.howToConnect) }
        : {}),
      live: source.capabilities.stream,
      history: source.capabilities.history,
      tells: [...source.capabilities.tells],
      can_send: source.capabilities.send && sendTo !== undefined,
      chat_count: chats,
      message_count: messages,
      oldest: oldestAt === null ? null : outgoing.time(oldestAt),
      newest: newestAt === null ? null : outgoing.time(newestAt),
      ...(gaps.length === 0 ? {} : { gaps }),
    };
  });
}
