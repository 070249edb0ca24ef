// Port: where the listings of servers are kept, a text each. Implemented by listing-files.ts.

export interface ListingStore {
  /** Where they are, for messages. */
  readonly name: string;
  /** Undefined if there is none. Throws if it cannot be read. */
  read(key: string): Promise<string | undefined>;
  write(key: string, text: string): Promise<void>;
  remove(key: string): Promise<void>;
}

/** A larger listing is not kept. */
export const MAX_LISTING_BYTES = 16 * 1024 * 1024;
/** The oldest are removed first. */
export const MAX_LISTINGS = 500;
