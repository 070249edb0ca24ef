// The port for storing secrets.

/** Methods throw HubError if the store fails. */
export interface SecretStore {
  /** Number of failed reads since the start. Absent if reads cannot fail. */
  readonly failures?: number;
  /** Undefined if there is no such secret. Throws if it cannot be decrypted. */
  get(name: string): Promise<string | undefined>;
  /** Adds or replaces. */
  set(name: string, value: string): Promise<void>;
  /** False if there is no such secret. */
  delete(name: string): Promise<boolean>;
  /** Sorted names. */
  list(): Promise<string[]>;
  /** When each secret was set, in milliseconds since the epoch. Absent if the store does not know. */
  times?(): Promise<ReadonlyMap<string, number>>;
  /** Calls `onChange` when somebody else has changed secrets or logins. Absent if nobody else can. Returns how to stop that. */
  watch?(onChange: () => void): () => void;
  /** All readable values, for redaction. Absent if the store cannot enumerate them. */
  values?(): Promise<readonly string[]>;
  /**
   * Encrypts every secret with a new key; returns the number of secrets. Throws Locked if another rotation is running. Absent
   * if the store has no key.
   */
  rotateKey?(): Promise<number>;
}
