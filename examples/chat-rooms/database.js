import { DatabaseSync } from "node:sqlite";

/**
 * Opens the application's database, and creates its tables if the file is new.
 *
 * @param {string} file
 */
export function openDatabase(file) {
  const database = new DatabaseSync(file);
  database.exec(`
    PRAGMA journal_mode = WAL;
    CREATE TABLE IF NOT EXISTS sessions (id TEXT PRIMARY KEY, user TEXT NOT NULL) STRICT;
    CREATE TABLE IF NOT EXISTS members (room TEXT, user TEXT, PRIMARY KEY (room, user)) STRICT;
    CREATE TABLE IF NOT EXISTS online (user TEXT PRIMARY KEY) STRICT;
    CREATE TABLE IF NOT EXISTS event_sources (object TEXT PRIMARY KEY, last INTEGER NOT NULL) STRICT;
    INSERT OR IGNORE INTO members VALUES ('staff', 'ada');
  `);
  return database;
}
