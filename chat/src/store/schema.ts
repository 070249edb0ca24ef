// The store's tables, as a list of migrations. Networks' ids are text; inside the store every row has a numeric key.
// SQL steps are literal text, so that a file of any earlier version ends up with the same tables.

import type { Database } from "@plugboard/shared/sqlite/driver";
import type { DatabaseForm } from "@plugboard/shared/sqlite/open";
import { keyOf } from "./read/columns.ts";
import { fold } from "./read/fold.ts";
import { setStoredPhoneNumbers } from "./write/phone-numbers.ts";
import { separateTelegramChats } from "./write/separate-telegram-chats.ts";

/** `message.slot` is named `time_key` since version 9. */
const TABLES = `
  CREATE TABLE source (
    key INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    checkpoint TEXT NOT NULL DEFAULT '{}'
  );

  -- The counts are stored with the chat: counting a large chat takes longer than reading a page of it.
  CREATE TABLE chat (
    key INTEGER PRIMARY KEY,
    source INTEGER NOT NULL,
    id TEXT NOT NULL,
    name TEXT,
    folded_name TEXT NOT NULL,
    type TEXT NOT NULL,
    participant_count INTEGER,
    message_count INTEGER NOT NULL DEFAULT 0,
    oldest_at INTEGER,
    newest_at INTEGER,
    UNIQUE (source, id)
  );

  -- Addresses of one person share the value of person, which is the key of one of them.
  CREATE TABLE address (
    key INTEGER PRIMARY KEY,
    source INTEGER NOT NULL,
    id TEXT NOT NULL,
    folded_id TEXT NOT NULL,
    person INTEGER NOT NULL,
    name TEXT,
    folded_name TEXT,
    phone TEXT,
    digits TEXT,
    username TEXT,
    folded_username TEXT,
    is_self INTEGER NOT NULL DEFAULT 0,
    is_bot INTEGER NOT NULL DEFAULT 0,
    UNIQUE (source, id)
  );
  CREATE INDEX address_person ON address (person);
  CREATE INDEX address_folded_id ON address (folded_id);
  CREATE INDEX address_folded_name ON address (folded_name);
  CREATE INDEX address_digits ON address (digits);
  CREATE INDEX address_folded_username ON address (folded_username);

  -- AUTOINCREMENT: a reused key would hide a new message from readers whose cursor is already past it.
  CREATE TABLE message (
    key INTEGER PRIMARY KEY AUTOINCREMENT,
    slot INTEGER NOT NULL UNIQUE,
    chat INTEGER NOT NULL,
    id TEXT NOT NULL,
    sender INTEGER,
    edited_at INTEGER,
    kind TEXT NOT NULL,
    content TEXT NOT NULL,
    reply_to TEXT,
    thread TEXT,
    forwarded_from TEXT,
    attachments TEXT,
    expires_at INTEGER,
    UNIQUE (chat, id)
  );
  CREATE INDEX message_time ON message (chat, slot);
  CREATE INDEX message_expiry ON message (expires_at) WHERE expires_at IS NOT NULL;

  -- rowid is the message's time key. System messages are indexed as notice, so that a search can leave them out. scope holds
  -- c<chat>, s<sender> and x<source>. Combining marks are parts of words in Indic scripts, so they count as letters.
  CREATE VIRTUAL TABLE message_index USING fts5 (
    content, notice, scope,
    content = '', contentless_delete = 1,
    tokenize = "unicode61 remove_diacritics 2 categories 'L* N* Co Mn Mc'"
  );

  -- Earlier texts of edited messages, each with the time from which it was valid.
  CREATE TABLE revision (
    message INTEGER NOT NULL,
    at INTEGER NOT NULL,
    content TEXT NOT NULL,
    PRIMARY KEY (message, at, content)
  ) WITHOUT ROWID;

  -- Keyed by the network's id, since a reaction can arrive before its message. Address 0: only a count is known. A row with
  -- count 0 is a removed reaction, and has the time of the removal.
  CREATE TABLE reaction (
    chat INTEGER NOT NULL,
    message TEXT NOT NULL,
    address INTEGER NOT NULL,
    emoji TEXT NOT NULL,
    count INTEGER NOT NULL,
    at INTEGER NOT NULL,
    PRIMARY KEY (chat, message, address, emoji)
  ) WITHOUT ROWID;

  -- The newest edit that arrived before its message; and ids of deleted messages, which must not be stored (again).
  CREATE TABLE early_edit (
    chat INTEGER NOT NULL,
    id TEXT NOT NULL,
    at INTEGER NOT NULL,
    content TEXT NOT NULL,
    PRIMARY KEY (chat, id)
  ) WITHOUT ROWID;
  CREATE TABLE gone (
    chat INTEGER NOT NULL,
    id TEXT NOT NULL,
    PRIMARY KEY (chat, id)
  ) WITHOUT ROWID;

  CREATE TABLE chat_sender (
    chat INTEGER NOT NULL,
    address INTEGER NOT NULL,
    messages INTEGER NOT NULL,
    PRIMARY KEY (chat, address)
  ) WITHOUT ROWID;

  CREATE TABLE gap (
    source INTEGER NOT NULL,
    chat INTEGER NOT NULL,
    from_at INTEGER NOT NULL,
    to_at INTEGER NOT NULL,
    reason TEXT NOT NULL,
    PRIMARY KEY (source, chat, from_at, to_at, reason)
  ) WITHOUT ROWID;
`;

/** Partial indexes: most messages reply to nothing and are in no thread. */
const THREADS = `
  CREATE INDEX message_reply ON message (chat, reply_to) WHERE reply_to IS NOT NULL;
  CREATE INDEX message_thread ON message (chat, thread) WHERE thread IS NOT NULL;
`;

/** History that is on the network and was not fetched: time spans of a chat, as JSON. No row: everything older than what is stored. */
const UNFETCHED = `
  CREATE TABLE unfetched (
    chat INTEGER PRIMARY KEY,
    spans TEXT NOT NULL
  );

  -- Pages of older messages, requested by processes that do not run the sources. The process that does fills in outcome.
  CREATE TABLE page_request (
    key INTEGER PRIMARY KEY AUTOINCREMENT,
    chat INTEGER NOT NULL,
    since_at INTEGER,
    before_at INTEGER,
    asked_at INTEGER NOT NULL,
    outcome TEXT
  );
`;

/**
 * Several ids and names of one chat, and several ids of one message. An alias of kind `id` routes events to the chat. Kinds
 * `former_id` (an earlier id, or the other person's) and `name` are for lookup only: another chat may have the same.
 */
const IDENTITY = `
  ALTER TABLE chat ADD COLUMN counterpart INTEGER;
  ALTER TABLE message ADD COLUMN numbered_by TEXT;

  CREATE TABLE chat_alias (
    source INTEGER NOT NULL,
    kind TEXT NOT NULL,
    value TEXT NOT NULL,
    folded TEXT NOT NULL,
    chat INTEGER NOT NULL,
    PRIMARY KEY (source, kind, value, chat)
  ) WITHOUT ROWID;
  CREATE INDEX chat_alias_chat ON chat_alias (chat);
  CREATE INDEX chat_alias_folded ON chat_alias (source, folded);

  -- Another account numbers the message that is stored under the id in message as id.
  CREATE TABLE twin (
    chat INTEGER NOT NULL,
    id TEXT NOT NULL,
    numbered_by TEXT NOT NULL,
    message TEXT NOT NULL,
    PRIMARY KEY (chat, id)
  ) WITHOUT ROWID;
  CREATE INDEX twin_message ON twin (chat, message);
`;

/** Time up to which the user has read a chat, if the source reports it. */
const READ_STATE = "ALTER TABLE chat ADD COLUMN read_at INTEGER;";

/** The international phone number of an address, as digits. */
const NUMBERS = `
  ALTER TABLE address ADD COLUMN e164 TEXT;
  CREATE INDEX address_e164 ON address (e164) WHERE e164 IS NOT NULL;
`;

const TIME_KEY = "ALTER TABLE message RENAME COLUMN slot TO time_key;";

/** Version 1 and up. Never change the SQL of a migration. */
export const STORE_FORM: DatabaseForm = {
  applicationId: 0x50434854,
  oldestVersion: 1,
  migrations: [
    { sql: TABLES },
    { sql: THREADS, repair: addFoldedAddresses },
    { sql: UNFETCHED },
    { sql: IDENTITY },
    { repair: separateTelegramChats },
    { sql: READ_STATE },
    { sql: NUMBERS },
    { repair: setStoredPhoneNumbers },
    { sql: TIME_KEY },
  ],
  // FULL: a committed message is acknowledged to the network, which then forgets it. It must survive a power cut.
  // An import touches pages all over the file. A checkpoint every 32 MB instead of 4 writes many of them only once.
  settings: `PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA journal_size_limit = 67108864;
    PRAGMA wal_autocheckpoint = 8000; PRAGMA cache_size = -65536; PRAGMA temp_store = MEMORY; PRAGMA secure_delete = FAST`,
};

/** The first files of version 1 have no columns for folded ids and usernames. */
function addFoldedAddresses(db: Database): void {
  if (db.get("SELECT 1 FROM pragma_table_info('address') WHERE name = 'folded_id'") !== undefined) return;
  db.exec(`
    ALTER TABLE address ADD COLUMN folded_id TEXT NOT NULL DEFAULT '';
    ALTER TABLE address ADD COLUMN folded_username TEXT;
    CREATE INDEX address_folded_id ON address (folded_id);
    CREATE INDEX address_folded_name ON address (folded_name);
    CREATE INDEX address_digits ON address (digits);
    CREATE INDEX address_folded_username ON address (folded_username);
  `);
  for (const row of db.all("SELECT key, id, username FROM address")) {
    const { id, username } = row;
    const folded = typeof username === "string" ? fold(username) : null;
    db.run("UPDATE address SET folded_id = ?, folded_username = ? WHERE key = ?", fold(String(id)), folded, keyOf(row));
  }
}
