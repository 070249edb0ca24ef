// A finished span.

import type { SpanContext } from "./trace-context.ts";

export type AttributeValue = string | number;
/** Numbers are integers. */
export type Attributes = Readonly<Record<string, AttributeValue | undefined>>;

/** Values of the protocol. */
export const KIND = { server: 2, client: 3 } as const;

export interface SpanData {
  readonly context: SpanContext;
  readonly parent: { readonly spanId: string; readonly isRemote: boolean } | undefined;
  readonly name: string;
  readonly kind: (typeof KIND)[keyof typeof KIND];
  /** Nanoseconds since the epoch. */
  readonly start: bigint;
  readonly end: bigint;
  readonly attributes: Attributes;
  readonly failed: boolean;
  readonly message?: string | undefined;
}
