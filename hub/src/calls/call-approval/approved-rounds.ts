// Approved calls that go on with another request of the same client: a modern server has asked for input, or a login is needed first.
// Such a request is part of the call that was approved, so it is not asked for again. Each is good for one request.

import { createHash } from "node:crypto";
import { evictOldest } from "@plugboard/shared/evict";
import { isObject } from "../../lib/json/json.ts";
import type { RawParams, Reply } from "../../protocol/rpc/jsonrpc.ts";
import type { ToolCall } from "../call.ts";

const MAX_ROUNDS = 1000;
const LIFETIME_MS = 600_000;

export class ApprovedRounds {
  /** When each ends, by whose request it is. */
  readonly #endsAt = new Map<string, number>();

  /** Whether the request goes on with a call that was approved. */
  take(call: ToolCall): boolean {
    if (this.#endsAt.size === 0) return false;
    const key = keyOf(call, stateIn(call.params?.value));
    const endsAt = this.#endsAt.get(key);
    this.#endsAt.delete(key);
    return endsAt !== undefined && endsAt > Date.now();
  }

  /** An approved call was answered: it may go on. */
  answered(call: ToolCall, reply: Reply): void {
    const result = reply.ok && isObject(reply.result.value) ? reply.result.value : undefined;
    if (result?.["resultType"] === "input_required") this.#add(keyOf(call, stateIn(result)));
  }

  /** An approved call could not be made without a login. */
  needsLogin(call: ToolCall): void {
    this.#add(keyOf(call, stateIn(call.params?.value)));
  }

  #add(key: string): void {
    this.#endsAt.set(key, Date.now() + LIFETIME_MS);
    evictOldest(this.#endsAt, MAX_ROUNDS);
  }
}

function stateIn(value: RawParams["value"] | undefined): unknown {
  return value?.["requestState"];
}

/** Who calls what with which arguments, and the state that the server gave out. */
function keyOf({ caller, client, group, server, name, params }: ToolCall, state: unknown): string {
  const who = [caller.principal(), caller.session ?? null, client ?? null];
  const what = [group, server, name, params?.value["arguments"] ?? null, state ?? null];
  return createHash("sha256")
    .update(JSON.stringify([who, what]))
    .digest("base64url");
}
