// A stretch of a text that must not be seen.

export interface Span {
  readonly kind: string;
  readonly start: number;
  readonly end: number;
}
