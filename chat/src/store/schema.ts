// The tables of the store. Ids of the networks are text; inside, everything is known by a number.

const TABLES = `
  CREATE TABLE source (
    key INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    checkpoint TEXT NOT NULL DEFAULT '{}'
  );

  -- The numbers are kept with the chat: counting a large one takes longer than reading a page of it.
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

  -- Addresses of one human share the number in person, which is the key of one of them.
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

  -- AUTOINCREMENT: a key that was deleted must not come back, or who has seen it would miss another message.
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

  -- By slot. What the network itself says has a column of its own, so that it can be left out; scope holds c<chat>,
  -- s<sender> and x<source>. Marks belong to words in Indic scripts, so they count as letters.
  CREATE VIRTUAL TABLE message_index USING fts5 (
    content, notice, scope,
    content = '', contentless_delete = 1,
    tokenize = "unicode61 remove_diacritics 2 categories 'L* N* Co Mn Mc'"
  );

  -- Earlier texts, each with the time from which it stood.
  CREATE TABLE revision (
    message INTEGER NOT NULL,
    at INTEGER NOT NULL,
    content TEXT NOT NULL,
    PRIMARY KEY (message, at, content)
  ) WITHOUT ROWID;

  -- By the network's id, since a reaction can come before its message. Address 0: only a number is known. A count of 0
  -- remembers when it was taken back.
  CREATE TABLE reaction (
    chat INTEGER NOT NULL,
    message TEXT NOT NULL,
    address INTEGER NOT NULL,
    emoji TEXT NOT NULL,
    count INTEGER NOT NULL,
    at INTEGER NOT NULL,
    PRIMARY KEY (chat, message, address, emoji)
  ) WITHOUT ROWID;

  -- What came before its message: the newest edit, and what is deleted and must not come (again).
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

/** Most messages answer nothing, and are in no thread. */
const THREADS = `
  CREATE INDEX message_reply ON message (chat, reply_to) WHERE reply_to IS NOT NULL;
  CREATE INDEX message_thread ON message (chat, thread) WHERE thread IS NOT NULL;
`;

/** Marks our files, so that no other is taken for one. */
export const APPLICATION_ID = 0x50434854;
/** SQL, in order; how many have run is kept in the file. Never change one that was released. */
export const MIGRATIONS: readonly string[] = [TABLES, THREADS];
