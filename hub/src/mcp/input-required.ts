// The modern way of asking: an answer that says what is wanted, and a request that brings it. Reads and writes both forms;
// who is asked is left to others.

import { editObject, isObject, membersOf, valueOf, type JsonObject } from "../wire/json.ts";
import { rawParams, success, type Raw, type RawParams, type Reply } from "../wire/jsonrpc.ts";
import type { Question } from "./capabilities.ts";

export interface InputRequired {
  readonly questions: ReadonlyMap<string, Question>;
  /** The server's own, as it stands in its answer: it comes back to it byte for byte. */
  readonly state: Buffer | undefined;
}

/** What an answer asks for; undefined where it is the last word. */
export function readInputRequired(reply: Reply): InputRequired | undefined {
  if (!reply.ok || !isObject(reply.result.value) || reply.result.value["resultType"] !== "input_required") {
    return undefined;
  }
  const { bytes, value } = reply.result;
  const requests = isObject(value["inputRequests"]) ? value["inputRequests"] : {};
  const questions = Object.entries(requests).map(([key, request]): [string, Question] => {
    const { method, params } = isObject(request) ? request : {};
    return [key, { method: String(method), params: isObject(params) ? params : undefined }];
  });
  const state =
    value["requestState"] === undefined ? undefined : valueOf(bytes, membersOf(bytes) ?? [], "requestState");
  return { questions: new Map(questions), state };
}

export function inputRequired(questions: ReadonlyMap<string, Question>, requestState?: string): Reply {
  const inputRequests = Object.fromEntries(
    [...questions].map(([key, { method, params }]) => [key, { method, ...(params === undefined ? {} : { params }) }]),
  );
  return success({
    resultType: "input_required",
    inputRequests,
    ...(requestState === undefined ? {} : { requestState }),
  });
}

/** The same request once more, with what was asked for. */
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

/** The client's answers by key; undefined where they have no such form. */
export function readInputResponses(params: JsonObject | undefined): ReadonlyMap<string, JsonObject> | undefined {
  const responses = params?.["inputResponses"] ?? {};
  if (!isObject(responses)) return undefined;
  const entries = Object.entries(responses).flatMap(([key, answer]) =>
    isObject(answer) ? [[key, answer] as const] : [],
  );
  return entries.length === Object.keys(responses).length ? new Map(entries) : undefined;
}
