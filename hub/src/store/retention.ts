// How long calls are kept: what is older, or more, goes. Apart from what removes them, which the hub's own thread never needs.

export interface Retention {
  readonly maxAgeMs: number;
  /** Of the database file. */
  readonly maxBytes: number;
  readonly maxRows: number;
}

export const DEFAULT_RETENTION: Retention = {
  maxAgeMs: 30 * 24 * 3_600_000,
  maxBytes: 1024 ** 3,
  maxRows: 2_000_000,
};
