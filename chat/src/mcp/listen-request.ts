// Preprocesses `subscriptions/listen` of 2026-07-28 for the SDK, which accepts all URIs or none: URIs that cannot be watched are
// removed, and the SDK acknowledges the rest, as the specification requires. A request with nothing left is rejected with the
// reason instead of opening a stream that never sends anything.

import { z } from "zod";
import type { JSONRPCErrorResponse, ProtocolError } from "@modelcontextprotocol/server";
import type { Subscriptions } from "../live/subscriptions.ts";
import { INVALID_PARAMS, meansNotFound, toChatError } from "./errors.ts";

const ListenRequest = z.looseObject({
  method: z.literal("subscriptions/listen"),
  id: z.union([z.string(), z.number()]),
  params: z.looseObject({ notifications: z.looseObject({ resourceSubscriptions: z.array(z.string()) }) }),
});

export interface ActiveListen {
  readonly status: "begun";
  readonly id: string | number;
  /** The request without URIs that cannot be watched. */
  readonly message: unknown;
  /** Stops watching. */
  end(): void;
}

export type ListenStart = ActiveListen | { readonly status: "refused"; readonly answer: JSONRPCErrorResponse };

export interface ListenOptions {
  readonly subscriptions: Subscriptions;
  readonly toError: (thrown: unknown) => ProtocolError;
}

/** Undefined for other messages. */
export function startListen(message: unknown, { subscriptions, toError }: ListenOptions): ListenStart | undefined {
  const parsed = ListenRequest.safeParse(message);
  if (!parsed.success) return undefined;
  const { params, ...rest } = parsed.data;
  const { resourceSubscriptions, ...others } = params.notifications;
  const watched: string[] = [];
  let refused: unknown;
  for (const uri of new Set(resourceSubscriptions)) {
    try {
      subscriptions.add(uri);
      watched.push(uri);
    } catch (error) {
      if (toChatError(error) === undefined) throw error;
      refused ??= error;
    }
  }
  const wantsNothingElse = Object.values(others).every((wanted) => wanted === false);
  if (refused !== undefined && watched.length === 0 && wantsNothingElse) {
    return { status: "refused", answer: errorResponse(parsed.data.id, toError(refused)) };
  }
  return {
    status: "begun",
    id: parsed.data.id,
    message: {
      ...rest,
      params: { ...params, notifications: { ...params.notifications, resourceSubscriptions: watched } },
    },
    end: () => {
      for (const uri of watched.splice(0)) subscriptions.remove(uri);
    },
  };
}

function errorResponse(id: string | number, { code, message, data }: ProtocolError): JSONRPCErrorResponse {
  // This era has no specific code for "not found".
  return { jsonrpc: "2.0", id, error: { code: meansNotFound(data) ? INVALID_PARAMS : code, message, data } };
}
