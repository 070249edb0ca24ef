// Port: the sessions of all hubs, each with its owner. Implemented by database/pg-sessions.ts.

export interface Owner {
  readonly replica: string;
  /** One run of the hub: the next one of the same name is another owner. Empty: the hub has stopped and released it. */
  readonly instance: string;
}

export interface StoredSession {
  readonly id: string;
  readonly endpoint: string;
  /** A SessionRecord as JSON. */
  readonly record: string;
}

export interface FoundSession extends StoredSession, Owner {
  /** The owner holds the lock on its name. */
  readonly isAlive: boolean;
  /** The owner's address for other hubs; undefined after it has left. */
  readonly peer: string | undefined;
}

export interface SessionStore {
  /** Adds, changes or refreshes sessions of an owner, except those that another one has adopted. */
  put(sessions: readonly StoredSession[], owner: Owner): Promise<void>;
  remove(ids: readonly string[], owner: Owner): Promise<void>;
  find(id: string): Promise<FoundSession | undefined>;
  /** Takes a session over from an owner that is gone. False: another hub was faster, or the owner is not gone. */
  adopt(id: string, from: Owner, to: Owner): Promise<boolean>;
  ownedBy(owner: Owner): Promise<string[]>;
  /** The owner stops: any other hub may adopt its sessions at once. */
  release(owner: Owner): Promise<void>;
  /** Removes sessions that nobody has used for longer than a session lasts. */
  sweep(): Promise<void>;
}
