// What a chat network gives us: a stream of events, in its own ids. A source keeps nothing itself; it hands its events to the
// sink, and goes on (acknowledges, reads the next line) when they are committed. So a kill at any instant loses nothing, and
// what is delivered twice is stored once.

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

/** Times are milliseconds since 1970 everywhere inside; ISO 8601 at the edge. Ids are the network's own. */
export interface NativeChat {
  readonly id: string;
  /** Absent where the event does not tell: what is known stays. */
  readonly name?: string;
  readonly type?: ChatType;
  readonly participantCount?: number;
}

/** One address of somebody: a user id, a number, a JID. */
export interface NativePerson {
  readonly id: string;
  readonly name?: string;
  readonly phone?: string;
  readonly username?: string;
  readonly isSelf?: boolean;
  readonly isBot?: boolean;
  /** Other addresses of the same human, in this source. */
  readonly sameAs?: readonly string[];
}

export interface NativeAttachment {
  readonly kind: AttachmentKind;
  readonly name?: string;
  readonly mime?: string;
  readonly size?: number;
  readonly durationS?: number;
  /** Whether the bytes are there to be had, or only what is said of them. */
  readonly available: boolean;
}

export interface NativeReaction {
  readonly emoji: string;
  /** Who, where it is told. */
  readonly by?: string;
  readonly at?: number;
  /** How many more, where only a number is told. */
  readonly count?: number;
}

export interface NativeMessage {
  readonly id: string;
  readonly chat: string;
  /** The id of a person; absent for what the network itself says. */
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
  /** When the sender wants it gone. */
  readonly expiresAt?: number;
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
  /** Messages between these times may be missing. */
  | {
      readonly type: "gap";
      readonly chat?: string;
      readonly from: number;
      readonly to: number;
      readonly reason: string;
    }
  /** Where to go on after a restart; stored in the same commit as the events before it. */
  | { readonly type: "checkpoint"; readonly state: Readonly<Record<string, string>> };

/** What may happen to a message after it was said. */
export const CHANGES = ["edits", "reactions", "deletions"] as const;
export type Change = (typeof CHANGES)[number];

export interface SourceCapabilities {
  readonly history: "full" | "window" | "from_link" | "snapshot" | "none";
  /** Whether new messages come by themselves. */
  readonly stream: boolean;
  readonly backfill: boolean;
  readonly send: boolean;
  /** The changes that we hear of, in some of its chats at least. */
  readonly tells: readonly Change[];
}

export type SourceState =
  | { readonly status: "connected" }
  | { readonly status: "connecting" }
  /** `message` says why; `howToConnect` what the user can do about it. */
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
  /** Resolves when the batch is committed. Rejects when it could not be: stop, and do not acknowledge. */
  readonly sink: (batch: readonly SourceEvent[]) => Promise<void>;
  /** What the last checkpoint said; empty at first. */
  readonly checkpoint: Readonly<Record<string, string>>;
  readonly onState: (state: SourceState) => void;
  readonly signal: AbortSignal;
  readonly log: SourceLog;
  readonly now: () => number;
}

export interface SendRequest {
  readonly chat: string;
  readonly text: string;
  readonly replyTo?: string;
  /** The same key is sent once. */
  readonly idempotencyKey: string;
}

export interface ChatSource {
  readonly id: string;
  readonly kind: string;
  readonly name: string;
  readonly capabilities: SourceCapabilities;
  /**
   * Hands over what there is, until the signal or until nothing more can come: one that streams stays connected, reconnecting
   * by itself; a file is read to its end. Resolves when it has ended. Never rejects.
   */
  run(context: SourceContext): Promise<void>;
  /** Older messages of a chat, handed to the sink. */
  backfill?(request: {
    chat: string;
    before?: number;
    limit: number;
    signal: AbortSignal;
  }): Promise<{ exhausted: boolean }>;
  send?(request: SendRequest): Promise<{ id: string; at: number }>;
}

/** What one import of a file did. */
export interface ImportReport {
  readonly format: string;
  readonly chats: number;
  readonly messages: number;
  /** What could not be read: how many, and the first few with where and why. */
  readonly skipped: number;
  readonly problems: readonly string[];
  /** Choices that the file did not decide by itself, such as the order of day and month. */
  readonly notes: readonly string[];
}

/** Reads one kind of export file. Events come in batches, in the order of the file; the report when all is read. */
export interface FileImporter {
  readonly format: string;
  readonly sourceKind: string;
  readonly tells: readonly Change[];
  /** Whether the file looks like one, by its name, its first bytes, and the names of what is in it. */
  recognises(file: FileSigns): boolean;
  read(file: ImportFile): AsyncGenerator<readonly SourceEvent[], ImportReport>;
}

export interface FileSigns {
  readonly path: string;
  /** Empty where it is a folder. */
  readonly head: Buffer;
  /** Of the files in a folder or zip; of the file itself where it is neither. */
  readonly names: readonly string[];
}

export interface ImportFile {
  readonly path: string;
  /** The zone of times that carry none, such as `Europe/Helsinki`. */
  readonly timeZone: string;
  /** The user's word on the order of day and month, where given. */
  readonly dateOrder?: "DMY" | "MDY" | "YMD";
  /** The user's own name, where the file does not tell who that is. */
  readonly self?: string;
  readonly onProgress?: (done: {
    readonly bytes: number;
    readonly totalBytes: number;
    readonly messages: number;
  }) => void;
  readonly signal: AbortSignal;
}
