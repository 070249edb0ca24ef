// `subscriptions/listen` of 2026-07-28, beside the SDK. That one takes all URIs or none, so those which cannot be watched are
// taken out of the request before it sees them: what it acknowledges is what is left, as the specification has it.

import { z } from "zod";
import type { Subscriptions } from "../live/subscriptions.ts";
import { toChatError } from "./failure.ts";

const ListenRequest = z.looseObject({
  method: z.literal("subscriptions/listen"),
  id: z.union([z.string(), z.number()]),
  params: z.looseObject({ notifications: z.looseObject({ resourceSubscriptions: z.array(z.string()) }) }),
});

export interface Listen {
  readonly id: string | number;
  /** The request without what cannot be watched. */
  readonly message: unknown;
  /** What is watched now, until `end`. */
  end(): void;
}

/** Undefined for every other message. */
export function beginListen(message: unknown, subscriptions: Subscriptions): Listen | undefined {
  const parsed = ListenRequest.safeParse(message);
  if (!parsed.success) return undefined;
  const { params, ...rest } = parsed.data;
  const wanted = [...new Set(params.notifications.resourceSubscriptions)];
  const watched = wanted.filter((uri) => tryAdd(subscriptions, uri));
  return {
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

function tryAdd(subscriptions: Subscriptions, uri: string): boolean {
  try {
    subscriptions.add(uri);
    return true;
  } catch (error) {
    if (toChatError(error) === undefined) throw error;
    return false;
  }
}
