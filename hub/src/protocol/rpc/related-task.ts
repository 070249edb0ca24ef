// Reads, sets and removes the related task in the `_meta` of a message (tasks of 2025-11-25). The rest of the message keeps its
// bytes.

import { editMember, withMembers } from "./json-edit.ts";
import { isObject } from "../../lib/json/json.ts";
import { raw, type Raw } from "./jsonrpc.ts";

export const RELATED_TASK = "io.modelcontextprotocol/related-task";

export function relatedTask(message: unknown): string | undefined {
  const meta = isObject(message) ? message["_meta"] : undefined;
  const related = isObject(meta) ? meta[RELATED_TASK] : undefined;
  const taskId = isObject(related) ? related["taskId"] : undefined;
  return typeof taskId === "string" ? taskId : undefined;
}

export function withRelatedTask(message: Raw, taskId: string): Raw {
  const related = raw({ taskId });
  const added = editMember(message, "_meta", (meta) => withMembers(meta, { [RELATED_TASK]: related }));
  return added ?? withMembers(message, { _meta: raw({ [RELATED_TASK]: related.value }) });
}

export function withoutRelatedTask(message: Raw): Raw {
  if (relatedTask(message.value) === undefined) return message;
  const left = editMember(message, "_meta", (meta) => withMembers(meta, { [RELATED_TASK]: undefined })) ?? message;
  const { _meta: meta } = isObject(left.value) ? left.value : {};
  return isObject(meta) && Object.keys(meta).length === 0 ? withMembers(left, { _meta: undefined }) : left;
}
