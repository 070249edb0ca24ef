// One finished span, as the encoders take it.

import type { SpanContext } from "./trace-context.ts";

export type AttributeValue = string | number;
/** Numbers are integers. */
export type Attributes = Readonly<Record<string, AttributeValue | undefined>>;

/** Numbers of the protocol. */
export const KIND = { server: 2, client: 3 } as const;
export const STATUS = { unset: 0, error: 2 } as const;

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

/** Whom the spans of one export come from. */
export interface Origin {
  readonly resource: Attributes;
  readonly scope: { readonly name: string; readonly version: string };
}

export type Encode = (spans: readonly SpanData[], origin: Origin) => Buffer;

export function attributesOf(attributes: Attributes): [key: string, value: AttributeValue][] {
  return Object.entries(attributes).flatMap(([key, value]): [string, AttributeValue][] =>
    value === undefined ? [] : [[key, value]],
  );
}

const FLAG = { sampled: 1, knowsRemote: 0x100, isRemote: 0x200 } as const;

/** Of spans that are sent: sampled, and said of the parent whether it lies in another process. */
export function flagsOf({ parent }: SpanData): number {
  return FLAG.sampled | FLAG.knowsRemote | (parent?.isRemote === true ? FLAG.isRemote : 0);
}
