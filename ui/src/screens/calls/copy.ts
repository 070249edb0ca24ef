// A recorded call as commands and messages that make it again.

import type { Call } from "$api/call.ts";
import { calls as text } from "../../text/calls.ts";

/** What the hub shows in the place of a secret. */
const MASK = "***";

/** Whether a recorded value has lost something to redaction, so that it is not what was sent. */
export function hasHidden(value: unknown): boolean {
  if (typeof value === "string") return value.includes(MASK);
  if (typeof value !== "object" || value === null) return false;
  return Object.entries(value).some(([key, member]) => key === MASK || hasHidden(member));
}

export interface CopyForm {
  readonly label: string;
  readonly text: string;
}

export function copyForms(call: Pick<Call, "server_name" | "tool_name" | "params">, origin: string): CopyForm[] {
  const args = call.params ?? {};
  const json = JSON.stringify(args);
  const path = `/api/v1/servers/${encodeURIComponent(call.server_name)}/tools/${encodeURIComponent(call.tool_name)}/call`;
  return [
    { label: text.copyCli, text: `plugboard call ${shell(`${call.server_name}.${call.tool_name}`)} ${shell(json)}` },
    {
      label: text.copyCurl,
      text: [
        `curl -H "Authorization: Bearer $PLUGBOARD_TOKEN" -H "Content-Type: application/json"`,
        `-d ${shell(JSON.stringify({ arguments: args }))} ${shell(origin + path)}`,
      ].join(" \\\n  "),
    },
    {
      label: text.copyJson,
      text: JSON.stringify({
        jsonrpc: "2.0",
        id: 1,
        method: "tools/call",
        params: { name: call.tool_name, arguments: args },
      }),
    },
  ];
}

/** One word of a shell: quoted unless every character is harmless. */
export function shell(word: string): string {
  return /^[\w@%+=:,./-]+$/u.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;
}
