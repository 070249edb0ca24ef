// One server behind the minimal proxy: requests get new ids, and answers are matched by them.

import { spawn } from "node:child_process";
import { gatherWrites, splitLines } from "../lines.ts";
import { initializeCall, INITIALIZED, jsonOf } from "../load/message.ts";
import type { Era } from "../upstreams/server.ts";
import { membersOf, replaced, textAt } from "./envelope.ts";
import { HttpCaller } from "./http-caller.ts";

/** As in the config file. */
export type Entry = { readonly command: string; readonly args: readonly string[] } | { readonly url: string };

/** Receives the answer with the caller's id. */
type OnAnswer = (answer: string | Buffer) => void;

export interface FloorUpstream {
  call(params: string, call: { readonly id: string; readonly name: string }, onAnswer: OnAnswer): void;
  tools(): Promise<readonly { readonly name: string }[]>;
}

export async function openUpstream(entry: Entry, era: Era): Promise<FloorUpstream> {
  const send = "url" in entry ? httpSender(entry.url, era) : stdioSender(entry);
  const ask = (method: string, params: object) =>
    new Promise<Record<string, unknown>>((resolve) => {
      const call = { method, params: { ...params } };
      send(jsonOf(call, era, 0).replace('"id":0,', "").slice(1), { id: "0", method }, (text) =>
        resolve(JSON.parse(String(text)).result),
      );
    });
  if (era === "legacy") {
    await ask("initialize", initializeCall("2025-06-18").params);
    send(INITIALIZED.slice(1), { method: "notifications/initialized" }, () => undefined);
  }
  return {
    call: (params, { id, name }, onAnswer) =>
      send(`"jsonrpc":"2.0","method":"tools/call","params":${params}}`, { id, method: "tools/call", name }, onAnswer),
    tools: async () => {
      const tools: { name: string }[] = [];
      for (let cursor: unknown = 0; cursor !== undefined;) {
        const { tools: page, nextCursor } = await ask("tools/list", { cursor });
        tools.push(...(page as { name: string }[]));
        cursor = nextCursor;
      }
      return tools;
    },
  };
}

interface Sent {
  /** The caller's id; undefined for a notification. */
  readonly id?: string;
  readonly method: string;
  readonly name?: string;
}

/** Receives the text after the opening brace and the id. */
type Send = (rest: string, sent: Sent, onAnswer: OnAnswer) => void;

function stdioSender({ command, args }: { readonly command: string; readonly args: readonly string[] }): Send {
  const child = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
  const write = gatherWrites((text) => void child.stdin.write(text));
  const waiting = new Map<string, { readonly id: string; readonly onAnswer: OnAnswer }>();
  let last = 0;
  const onLine = (line: Buffer) => {
    const span = membersOf(line).get("id");
    const key = span === undefined ? "" : textAt(line, span);
    const caller = waiting.get(key);
    if (span === undefined || caller === undefined) return;
    waiting.delete(key);
    caller.onAnswer(replaced(line, span, caller.id));
  };
  child.stdout.on("data", splitLines(onLine));
  return (rest, { id }, onAnswer) => {
    if (id === undefined) return write(`{${rest}\n`);
    const key = String(++last);
    waiting.set(key, { id, onAnswer });
    write(`{"id":${key},${rest}\n`);
  };
}

function httpSender(url: string, era: Era): Send {
  const caller = new HttpCaller(url, era);
  let last = 0;
  return (rest, { id, ...sent }, onAnswer) => {
    const json = id === undefined ? `{${rest}` : `{"id":${++last},${rest}`;
    void caller.post(json, sent).then((answer) => {
      const span = id === undefined ? undefined : membersOf(answer).get("id");
      if (span !== undefined && id !== undefined) onAnswer(replaced(answer, span, id));
    });
  };
}
