// The interface of chat networks and export files: streams of events, with the network's own ids. A source stores nothing
// itself. It passes events to the sink, and acknowledges them or reads on after they are committed, so that a kill at any
// time loses nothing. Events that are delivered twice are stored once.

export const CHAT_TYPES = ["direct", "group", "channel", "self", "bot"] as const;
export type ChatType = (typeof CHAT_TYPES)[number];

export type MessageKind =
  | "text"
  | "media"
  | "sticker"
  | "poll"
  | "call"
  | "location"
  | "contact"
  | "system"
  | "unsupported";

export type AttachmentKind = "image" | "video" | "audio" | "voice" | "file" | "sticker";

/** Times are milliseconds since 1970; clients get ISO 8601. Ids are the network's own. */
export interface NativeChat {
  readonly id: string;
  /** Absent: the stored value stays. */
  readonly name?: string;
  readonly type?: ChatType;
  readonly participantCount?: number;
  /** Other ids of the same chat, whose messages have the same ids. Chats that are stored under them are merged into this one. */
  readonly sameAs?: readonly string[];
  /** The id of the other person of a private chat, if it is not the chat's id. */
  readonly counterpart?: string;
}

/** One address of a person: a user id, a number, a JID. */
export interface NativePerson {
  readonly id: string;
  readonly name?: string;
  readonly phone?: string;
  readonly username?: string;
  readonly isSelf?: boolean;
  readonly isBot?: boolean;
  /** Other addresses of the same person, in this source. */
  readonly sameAs?: readonly string[];
}

export interface NativeAttachment {
  readonly kind: AttachmentKind;
  readonly name?: string;
  readonly mime?: string;
  readonly size?: number;
  readonly durationS?: number;
  /** Whether the file can be read, or only its description is known. */
  readonly available: boolean;
  /** Only files of an export can be read. */
  readonly file?: AttachmentFile;
}

/** A file of an export. */
export interface AttachmentFile {
  /** The folder or zip, as an absolute path. */
  readonly root: string;
  /** The path inside it, with `/` between folders. */
  readonly name: string;
}

export interface NativeReaction {
  readonly emoji: string;
  /** The id of the person, if known. */
  readonly by?: string;
  readonly at?: number;
  /** The number of reactions, if the people are not known. */
  readonly count?: number;
}

export interface NativeMessage {
  readonly id: string;
  readonly chat: string;
  /** The id of a person; absent for messages of the network itself. */
  readonly sender?: string;
  readonly at: number;
  readonly editedAt?: number;
  readonly kind: MessageKind;
  readonly content: string;
  readonly replyTo?: string;
  readonly thread?: string;
  readonly forwardedFrom?: string;
  readonly reactions?: readonly NativeReaction[];
  readonly attachments?: readonly NativeAttachment[];
  /** Set by the sender of a disappearing message. */
  readonly expiresAt?: number;
  /**
   * The account that numbered the message, if every account numbers the messages of a chat by itself. Messages of two
   * accounts are the same message if sender, time and content are equal.
   */
  readonly numberedBy?: string;
}

export type MessageOrigin = "live" | "backfill" | "import";

export type SourceEvent =
  | { readonly type: "chat"; readonly chat: NativeChat }
  | { readonly type: "person"; readonly person: NativePerson }
  | { readonly type: "message"; readonly message: NativeMessage; readonly origin: MessageOrigin }
  | { readonly type: "edit"; readonly chat: string; readonly id: string; readonly content: string; readonly at: number }
  | { readonly type: "delete"; readonly chat: string; readonly ids: readonly string[]; readonly at: number }
  | {
      readonly type: "reaction";
      readonly chat: string;
      readonly id: string;
      readonly by: string;
      readonly emoji: string;
      readonly removed: boolean;
      readonly at: number;
    }
  /**
   * The user has read the chat up to this message, on any device; up to this time if the message is not stored. Without a
   * chat, the message is found by its id and time.
   */
  | { readonly type: "read"; readonly chat?: string; readonly id?: string; readonly at: number }
  /** Messages between these times may be missing. */
  | {
      readonly type: "gap";
      readonly chat?: string;
      readonly from: number;
      readonly to: number;
      readonly reason: string;
    }
  /** Messages of this chat before this time were not fetched from the network: `backfill` continues at the token. */
  | { readonly type: "unfetched"; readonly chat: string; readonly to: number; readonly token: string }
  /** Checkpoint to continue from after a restart; stored in the same commit as the events before it. */
  | { readonly type: "checkpoint"; readonly state: Readonly<Record<string, string>> };

/** Changes of a message after it was sent. */
export const CHANGES = ["edits", "reactions", "deletions"] as const;
export type Change = (typeof CHANGES)[number];

export interface SourceCapabilities {
  readonly history: "full" | "window" | "from_link" | "snapshot" | "none";
  /** Whether new messages arrive by themselves. */
  readonly stream: boolean;
  readonly backfill: boolean;
  readonly send: boolean;
  /** The changes that the network reports, at least in some of its chats. */
  readonly changes: readonly Change[];
}

export type SourceState =
  | { readonly status: "connected" }
  | { readonly status: "connecting" }
  /** `message` is the reason; `howToConnect` is advice for the user. */
  | {
      readonly status: "disconnected" | "needs_auth" | "error";
      readonly message: string;
      readonly howToConnect: string;
    };

export const STOPPED: SourceState = {
  status: "disconnected",
  message: "It was stopped",
  howToConnect: "Start the chat server again.",
};

export interface SourceLog {
  info(message: string): void;
  warn(message: string): void;
}

export interface SourceContext {
  /** Resolves when the batch is committed. If it rejects, stop and do not acknowledge. */
  readonly sink: (batch: readonly SourceEvent[]) => Promise<void>;
  /** The state of the last checkpoint; empty at first. */
  readonly checkpoint: Readonly<Record<string, string>>;
  readonly onState: (state: SourceState) => void;
  readonly signal: AbortSignal;
  readonly log: SourceLog;
  readonly now: () => number;
}

export interface SendRequest {
  readonly chat: string;
  /** Other ids of the chat. */
  readonly otherIds?: readonly string[];
  readonly text: string;
  readonly replyTo?: string;
  /** A message with this key is sent at most once. */
  readonly idempotencyKey: string;
}

export interface BackfillRequest {
  readonly chat: string;
  /** The page ends at the token of an earlier page, else just before this message, else before this time. */
  readonly token?: string;
  readonly message?: string;
  /** Exclusive. Without any of the three the page ends with the newest message. */
  readonly before?: number;
  readonly limit: number;
  readonly signal: AbortSignal;
}

export type BackfilledPage =
  | {
      readonly status: "page";
      /** No older messages exist. */
      readonly exhausted: boolean;
      /** The time of the oldest event on the page, even if it is not a message. */
      readonly reachedAt?: number;
      /** For the next page. */
      readonly token?: string;
    }
  /** The network cannot look up a time: a token or a message is needed. */
  | { readonly status: "no_time_lookup" };

export interface ChatSource {
  readonly id: string;
  readonly kind: string;
  readonly name: string;
  readonly capabilities: SourceCapabilities;
  /** Why it cannot run with this config. */
  readonly fault?: { readonly message: string; readonly hint: string };
  /**
   * Passes events to the sink until the signal aborts: a streaming source reconnects by itself, a file is read to its end.
   * Resolves when it has ended. Never rejects.
   */
  run(context: SourceContext): Promise<void>;
  /** Passes one page of older messages of a chat to the sink. */
  backfill?(request: BackfillRequest): Promise<BackfilledPage>;
  send?(request: SendRequest): Promise<{ id: string; at: number }>;
  /** Whether it can write to this chat; absent: to every chat. */
  sendsTo?(chat: string): boolean;
}

/** The result of importing one file. */
export interface ImportReport {
  readonly format: string;
  readonly chats: number;
  readonly messages: number;
  /** The number of entries that could not be read, and the first of them with position and reason. */
  readonly skipped: number;
  readonly problems: readonly string[];
  /** Assumptions about what the file leaves open, such as the order of day and month. */
  readonly notes: readonly string[];
  /** False if the file is truncated or damaged. */
  readonly complete: boolean;
}

/** Reads one kind of export file. Yields batches of events in the order of the file, and returns the report. */
export interface FileImporter {
  readonly format: string;
  readonly sourceKind: string;
  readonly changes: readonly Change[];
  /** Decides by the name, the first bytes, and the names of the files inside. */
  recognises(file: FileSigns): boolean;
  read(file: ImportFile): AsyncGenerator<readonly SourceEvent[], ImportReport>;
}

export interface FileSigns {
  readonly path: string;
  /** Empty for a folder. */
  readonly head: Buffer;
  /** The files in a folder or zip; otherwise the file itself. */
  readonly names: readonly string[];
}

/** Upper bounds of one import; importers/import-limits.ts has the defaults. */
export interface ImportLimits {
  /** Files in a folder or zip. */
  readonly entries: number;
  /** Unpacked bytes of one file. */
  readonly entry_bytes: number;
  /** Unpacked bytes of all files. */
  readonly total_bytes: number;
  /** Unpacked size divided by compressed size of a file in a zip. */
  readonly ratio: number;
  /** Bytes of one line, or of one message in JSON. */
  readonly line_bytes: number;
}

export interface ImportFile {
  readonly path: string;
  /** The zone of times without one, such as `Europe/Helsinki`. */
  readonly timeZone: string;
  /** The order of day and month, if the user has given it. */
  readonly dateOrder?: "DMY" | "MDY" | "YMD";
  /** The user's own name, if the file does not say who the user is. */
  readonly self?: string;
  /** Overrides of the default limits. */
  readonly limits?: Partial<ImportLimits>;
  readonly onProgress?: (done: {
    readonly bytes: number;
    readonly totalBytes: number;
    readonly messages: number;
  }) => void;
  readonly signal: AbortSignal;
}
