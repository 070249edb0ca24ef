// The port behind which credentials are kept. Who may ask for one, and where it goes, is left to the callers.

/** Every method throws a HubError where the store itself fails. */
export interface SecretStore {
  /** How often one was there and could not be read, since the start. Absent where that cannot happen. */
  readonly failures?: number;
  /** The value; undefined where there is no such secret. One that cannot be decrypted throws. */
  get(name: string): Promise<string | undefined>;
  /** Adds or replaces. */
  set(name: string, value: string): Promise<void>;
  /** False where there was none. */
  delete(name: string): Promise<boolean>;
  /** The names, sorted; never a value. */
  list(): Promise<string[]>;
  /**
   * Encrypts every secret with a new key; returns how many there are. One rotation at a time: another one is refused with
   * StaleConfig. Absent where the store has no key of its own.
   */
  rotateKey?(): Promise<number>;
}
