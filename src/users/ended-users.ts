import { userKey } from "../contract/identity-key.ts";
import { homeName } from "../contract/object-names.ts";
import { limits } from "../limits.ts";

/**
 * Tells the homes of users that their last connection on an object has ended (rule U26). Connections that end within
 * `limits.endedNoteMs` share the look at the object's sessions, and the calls.
 */
export class EndedUsers {
  readonly #port: EndedUsersPort;
  readonly #users = new Set<string>();

  constructor(port: EndedUsersPort) {
    this.#port = port;
  }

  /** Notes that a connection of a user has ended. */
  ended(user: string): void {
    if (this.#users.size === 0) this.#port.later(limits.endedNoteMs, () => this.#tell());
    this.#users.add(user);
  }

  #tell(): void {
    const gone = new Set(this.#users);
    this.#users.clear();
    for (const { user, takesOrders } of this.#port.sessions()) if (takesOrders) gone.delete(user);
    for (const [home, users] of Map.groupBy(gone, (user) => homeName(userKey(user)))) {
      for (let start = 0; start < users.length; start += limits.registerUsersMax)
        this.#port.tell(home, users.slice(start, start + limits.registerUsersMax));
    }
  }
}

interface EndedUsersPort {
  /** Does the work after so many ms. */
  later(waitMs: number, work: () => void): void;
  /** All sessions of the object. */
  sessions(): Iterable<{ readonly user: string; readonly takesOrders: boolean }>;
  /** Calls a home, once. What it doesn't hear is lost. */
  tell(home: string, users: readonly string[]): void;
}
