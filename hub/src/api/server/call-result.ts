// Builds the API's result of a tool call around the bytes of the server's result, so that numbers which JavaScript cannot
// represent stay unchanged.

import { reasonIn, verdictOfReply } from "../../call-log/outcome.ts";
import { HubError } from "../../errors.ts";
import { isObject, membersOf } from "../../lib/json/json.ts";
import type { Raw } from "../../protocol/rpc/jsonrpc.ts";
import type { CallOutcome } from "./commands/tools.ts";

const EMPTY = Buffer.from("[]");

export function toCallResult({ reply, durationMs }: CallOutcome): Buffer {
  const parts: [string, Buffer][] = [];
  const add = (key: string, value: Buffer | string | boolean | number) =>
    parts.push([key, Buffer.isBuffer(value) ? value : Buffer.from(JSON.stringify(value))]);
  const { outcome, code } = verdictOfReply(reply);
  add("success", outcome === "ok");
  if (reply.ok) {
    const { value, bytes } = reply.result;
    add("content", memberOf(bytes, "content") ?? EMPTY);
    if (outcome !== "ok") add("error", reasonIn(value) ?? "The tool reported an error");
    const structured = memberOf(bytes, "structuredContent");
    if (structured !== undefined) add("structured_content", structured);
  } else {
    const { value, bytes } = reply.error;
    add("content", EMPTY);
    add("error", isObject(value) ? String(value["message"]) : "The server answered with an error");
    add("rpc_error", bytes);
  }
  if (code !== undefined) add("code", code);
  add("outcome", outcome);
  add("duration_ms", Math.round(durationMs * 1000) / 1000);
  const members = parts.flatMap(([key, value], index) => [Buffer.from(`${index === 0 ? "{" : ","}"${key}":`), value]);
  return Buffer.concat([...members, Buffer.from("}")]);
}

/** The unchanged result of the server. Throws if the server answered with an error. */
export function resultOf({ reply }: CallOutcome): Raw {
  if (reply.ok) return reply.result;
  const { message } = isObject(reply.error.value) ? reply.error.value : {};
  throw new HubError("ToolFailed", "The server answered with an error", {
    detail: typeof message === "string" ? message : reply.error.bytes.toString(),
  });
}

/** The bytes of one member of an object; of duplicates the last, like JSON.parse. */
export function memberOf(bytes: Buffer, key: string): Buffer | undefined {
  const member = membersOf(bytes)?.findLast((candidate) => candidate.key === key);
  return member === undefined ? undefined : bytes.subarray(member.valueStart, member.valueEnd);
}
