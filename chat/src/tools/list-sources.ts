// `list_sources`: the configured sources and their connection status.

import { z } from "zod";
import type { Reader } from "../access/reader.ts";
import { SourceShape, type SourceJson } from "../model/shapes.ts";
import { count } from "../lib/words.ts";
import { tool } from "./tool.ts";

const MAX_GAPS = 10;

export const listSources = tool({
  name: "list_sources",
  title: "List chat sources",
  description:
    "Lists the configured chat sources (Telegram, Signal, WhatsApp and others) with their connection status, number of stored " +
    "messages and time range. Start here: the other tools take a source's id.",
  input: z.strictObject({}),
  output: z.object({ sources: z.array(SourceShape) }),
  run: (_, { app: { reader } }) => {
    const sources = toSources(reader);
    const lines = sources.map(
      ({ id, name, kind, status, chat_count: chats, message_count: messages, live }) =>
        `${id}: ${name}, ${status}, ${count(chats, "chat")}, ${count(messages, "message")}, ${live ? "live" : kind === "import" ? "imported" : kind}`,
    );
    return { structured: { sources }, text: lines.length === 0 ? "(no sources are configured)" : lines.join("\n") };
  },
});

export function toSources(reader: Reader): SourceJson[] {
  const { sources, presenter } = reader;
  return sources.all.map(({ source, send }) => {
    const state = sources.state(source.id);
    const { chats, messages, oldestAt, newestAt } = reader.totals(source.id);
    // Gaps of single chats are left out: the chat may be hidden.
    const gaps = reader.store
      .gaps(source.id, MAX_GAPS)
      .filter(({ chat }) => chat === null)
      .map(({ from, to, reason }) => ({
        from: presenter.time(from),
        to: presenter.time(to),
        reason: presenter.text(reason),
      }));
    return {
      id: source.id,
      name: presenter.name(source.name),
      kind: source.kind,
      is_connected: state.status === "connected",
      status: state.status,
      ...("message" in state
        ? { message: presenter.text(state.message), how_to_connect: presenter.text(state.howToConnect) }
        : {}),
      live: source.capabilities.stream,
      history: source.capabilities.history,
      changes: [...source.capabilities.changes],
      can_send: source.capabilities.send && send !== undefined,
      chat_count: chats,
      message_count: messages,
      oldest: oldestAt === null ? null : presenter.time(oldestAt),
      newest: newestAt === null ? null : presenter.time(newestAt),
      ...(gaps.length === 0 ? {} : { gaps }),
    };
  });
}
