// An official client, connected to the hub, that answers requests and records notifications.

import { Client, type ClientCapabilities, type Transport } from "@modelcontextprotocol/client";
import { Messages } from "../streams.ts";
import type { Cell } from "./cell.ts";

const CAPABILITIES: ClientCapabilities = { sampling: {}, elicitation: { form: {}, url: {} }, roots: {} };

/** The client's answers to requests. */
export const ANSWERS = {
  sampled: "Forty-two",
  name: "Ada",
  root: "file:///home/ada",
} as const;

const TOLD = [
  "notifications/message",
  "notifications/tools/list_changed",
  "notifications/prompts/list_changed",
  "notifications/resources/updated",
] as const;

export interface Peer {
  readonly client: Client;
  readonly cell: Cell;
  /** Notifications in order of arrival. */
  readonly told: Messages;
}

export async function connectPeer(cell: Cell, transport: Transport): Promise<Peer> {
  const modern = { versionNegotiation: { mode: { pin: "2026-07-28" } } };
  const client = new Client(
    { name: "matrix", version: "1" },
    { capabilities: CAPABILITIES, ...(cell.client.era === "modern" ? modern : {}) },
  );
  const told = new Messages();
  for (const method of TOLD) client.setNotificationHandler(method, (message) => told.push(message));
  client.setRequestHandler("sampling/createMessage", () => ({
    role: "assistant" as const,
    model: "none",
    content: { type: "text" as const, text: ANSWERS.sampled },
  }));
  client.setRequestHandler("elicitation/create", () => ({
    action: "accept" as const,
    content: { username: ANSWERS.name, email: "ada@example.com", name: ANSWERS.name },
  }));
  client.setRequestHandler("roots/list", () => ({ roots: [{ uri: ANSWERS.root, name: "home" }] }));
  await client.connect(transport);
  // The client drops progress that arrives together with the answer, so it is recorded before.
  const receive = transport.onmessage;
  // eslint-disable-next-line unicorn/prefer-add-event-listener -- the SDK has no other way
  transport.onmessage = (message, extra) => {
    if ("method" in message && message.method === "notifications/progress") told.push(message);
    receive?.(message, extra);
  };
  return { client, cell, told };
}
