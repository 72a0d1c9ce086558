/** "ERRA": marks a file as ours, so that nobody else's database is migrated by mistake. */
export const APPLICATION_ID = 0x45525241;

/**
 * One migration a version: entry 0 makes version 1 (`PRAGMA user_version`). Entries are never edited once released.
 *
 * `notes.seq` is what other tables point to (8 bytes instead of 64). Sort indexes end with status and task type, so that
 * a filter on them is decided in the index, before the row is read.
 */
export const MIGRATIONS: readonly string[] = [
  `
  CREATE TABLE notes (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    namespace TEXT NOT NULL,
    task_type TEXT NOT NULL,
    status TEXT NOT NULL,
    impact TEXT NOT NULL,
    risk INTEGER NOT NULL,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    version INTEGER NOT NULL,
    model_id TEXT,
    retrieved INTEGER NOT NULL,
    helpful INTEGER NOT NULL,
    harmful INTEGER NOT NULL,
    ignored INTEGER NOT NULL,
    lesson TEXT NOT NULL,
    correction TEXT NOT NULL,
    wrong_answer TEXT NOT NULL,
    rest TEXT NOT NULL,
    searched TEXT NOT NULL
  ) STRICT;
  CREATE INDEX notes_created ON notes (namespace, created_at, id, status, task_type);
  CREATE INDEX notes_updated ON notes (namespace, updated_at, id, status, task_type);
  CREATE INDEX notes_risk ON notes (namespace, risk, created_at, id, status, task_type);
  CREATE INDEX notes_counts ON notes (namespace, task_type, status);

  CREATE TABLE note_facets (
    kind TEXT NOT NULL,
    key TEXT NOT NULL,
    value TEXT NOT NULL,
    note INTEGER NOT NULL REFERENCES notes (seq),
    PRIMARY KEY (kind, key, value, note)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX note_facets_note ON note_facets (note);

  CREATE TABLE note_vectors (
    note INTEGER PRIMARY KEY REFERENCES notes (seq),
    model_id TEXT NOT NULL,
    lesson BLOB NOT NULL,
    situation BLOB
  ) STRICT;

  CREATE TABLE changes (revision INTEGER PRIMARY KEY, note_ids TEXT NOT NULL) STRICT;

  CREATE TABLE audit (
    id TEXT PRIMARY KEY,
    at TEXT NOT NULL,
    version INTEGER NOT NULL,
    actor TEXT NOT NULL,
    action TEXT NOT NULL,
    namespace TEXT,
    note_id TEXT,
    reason TEXT,
    changes TEXT NOT NULL
  ) STRICT;
  CREATE INDEX audit_time ON audit (at, version, id);
  CREATE INDEX audit_namespace ON audit (namespace, at, version, id);
  CREATE INDEX audit_note ON audit (note_id, at, version, id);
  CREATE INDEX audit_actor ON audit (actor, at, version, id);

  CREATE TABLE receipts (
    id TEXT PRIMARY KEY,
    created_at TEXT NOT NULL,
    body TEXT NOT NULL
  ) STRICT;
  CREATE INDEX receipts_created ON receipts (created_at);
  CREATE TABLE receipt_notes (
    namespace TEXT NOT NULL,
    note_id TEXT NOT NULL,
    created_at TEXT NOT NULL,
    receipt_id TEXT NOT NULL REFERENCES receipts (id) ON DELETE CASCADE,
    PRIMARY KEY (namespace, note_id, created_at, receipt_id)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX receipt_notes_receipt ON receipt_notes (receipt_id);

  CREATE TABLE jobs (
    id TEXT PRIMARY KEY,
    kind TEXT NOT NULL,
    namespace TEXT,
    options TEXT NOT NULL,
    state TEXT NOT NULL,
    done INTEGER NOT NULL,
    total INTEGER,
    message TEXT,
    created_at TEXT NOT NULL,
    started_at TEXT,
    finished_at TEXT,
    cancel_requested INTEGER NOT NULL,
    cursor TEXT,
    lease_owner TEXT,
    lease_until TEXT,
    fence INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX jobs_created ON jobs (created_at, id);
  CREATE INDEX jobs_state ON jobs (state, created_at, id);

  CREATE TABLE api_keys (
    key_hash TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    roles TEXT NOT NULL,
    namespaces TEXT,
    created_at TEXT NOT NULL,
    revoked_at TEXT
  ) STRICT;
  CREATE UNIQUE INDEX api_keys_live_name ON api_keys (name) WHERE revoked_at IS NULL;

  CREATE TABLE settings (name TEXT PRIMARY KEY, json TEXT NOT NULL) STRICT;
  `,
  `
  CREATE TABLE audit_chain (
    number INTEGER PRIMARY KEY,
    events TEXT NOT NULL,
    previous TEXT NOT NULL,
    hash TEXT NOT NULL
  ) STRICT;
  `,
  `
  CREATE TABLE note_versions (
    note INTEGER NOT NULL REFERENCES notes (seq),
    version INTEGER NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (note, version)
  ) STRICT, WITHOUT ROWID;
  `,
  `
  CREATE TABLE trials (
    receipt_id TEXT PRIMARY KEY,
    namespace TEXT NOT NULL,
    note_id TEXT NOT NULL,
    withheld INTEGER NOT NULL,
    at TEXT NOT NULL,
    correct INTEGER
  ) STRICT;
  CREATE INDEX trials_time ON trials (namespace, at, receipt_id);
  `,
  // Sealed texts stand beside empty columns; vectors of several models stand beside each other.
  `
  ALTER TABLE notes ADD COLUMN key_id TEXT;
  ALTER TABLE notes ADD COLUMN sealed BLOB;
  CREATE TABLE model_vectors (
    note INTEGER NOT NULL REFERENCES notes (seq),
    model_id TEXT NOT NULL,
    key_id TEXT,
    lesson BLOB NOT NULL,
    situation BLOB,
    PRIMARY KEY (note, model_id)
  ) STRICT;
  INSERT INTO model_vectors (note, model_id, lesson, situation) SELECT note, model_id, lesson, situation FROM note_vectors;
  DROP TABLE note_vectors;
  ALTER TABLE model_vectors RENAME TO note_vectors;
  `,
  `
  ALTER TABLE jobs ADD COLUMN losses INTEGER;
  `,
  // When a note entered the queue, which the queue is ordered by; of others when it was made. Damaged rows stay readable as such.
  `
  ALTER TABLE notes ADD COLUMN opened_at TEXT NOT NULL DEFAULT '';
  UPDATE notes SET opened_at =
    coalesce(CASE WHEN json_valid(rest) THEN json_extract(rest, '$.review.openedAt') END, created_at);
  DROP INDEX notes_risk;
  CREATE INDEX notes_risk ON notes (namespace, risk, opened_at, id, status, task_type);
  ALTER TABLE audit ADD COLUMN origin TEXT;
  `,
];
