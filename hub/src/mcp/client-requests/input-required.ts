// Reads and writes the two forms of modern client requests: the `input_required` result, and the repeated request with
// `inputResponses`.

import { editObject, isObject, membersOf, valueOf, type JsonObject } from "../../lib/json/json.ts";
import { rawParams, success, type Raw, type RawParams, type Reply } from "../../protocol/rpc/jsonrpc.ts";
import type { ClientRequest } from "./client-capabilities.ts";

export interface InputRequired {
  readonly requests: ReadonlyMap<string, ClientRequest>;
  /** The server's own bytes: they are sent back unchanged. */
  readonly state: Buffer | undefined;
}

/** The requests in a reply; undefined if it is final. */
export function readInputRequired(reply: Reply): InputRequired | undefined {
  if (!reply.ok || !isObject(reply.result.value) || reply.result.value["resultType"] !== "input_required") {
    return undefined;
  }
  const { bytes, value } = reply.result;
  const given = isObject(value["inputRequests"]) ? value["inputRequests"] : {};
  const requests = Object.entries(given).map(([key, request]): [string, ClientRequest] => {
    const { method, params } = isObject(request) ? request : {};
    return [key, { method: String(method), params: isObject(params) ? params : undefined }];
  });
  const state =
    value["requestState"] === undefined ? undefined : valueOf(bytes, membersOf(bytes) ?? [], "requestState");
  return { requests: new Map(requests), state };
}

export function inputRequired(requests: ReadonlyMap<string, ClientRequest>, requestState?: string): Reply {
  const inputRequests = Object.fromEntries(
    [...requests].map(([key, { method, params }]) => [key, { method, ...(params === undefined ? {} : { params }) }]),
  );
  return success({
    resultType: "input_required",
    inputRequests,
    ...(requestState === undefined ? {} : { requestState }),
  });
}

/** The params of the repeated request, with the answers. */
export function withInput(
  params: RawParams | undefined,
  answers: readonly (readonly [key: string, answer: Raw])[],
  state: Buffer | undefined,
): RawParams {
  const given = params ?? rawParams({});
  const responses = answers.map(([key, answer]) => `${JSON.stringify(key)}:${answer.bytes.toString()}`).join(",");
  const bytes = editObject(
    given.bytes,
    { inputResponses: answers.length === 0 ? undefined : `{${responses}}`, requestState: state },
    given.members,
  );
  const inputResponses = Object.fromEntries(answers.map(([key, { value }]) => [key, value]));
  const requestState: unknown = state && JSON.parse(state.toString());
  return rawParams({ ...given.value, inputResponses, requestState }, bytes);
}

/** The client's answers by key; undefined if they are malformed. */
export function readInputResponses(params: JsonObject | undefined): ReadonlyMap<string, JsonObject> | undefined {
  const responses = params?.["inputResponses"] ?? {};
  if (!isObject(responses)) return undefined;
  const entries = Object.entries(responses).flatMap(([key, answer]) =>
    isObject(answer) ? [[key, answer] as const] : [],
  );
  return entries.length === Object.keys(responses).length ? new Map(entries) : undefined;
}
