import { userKey } from "../contract/identity-key.ts";
import { homeName } from "../contract/object-names.ts";
import { limits } from "../limits.ts";

/**
 * Reports to the homes of users that their last connection on an object has ended. So the homes know when users were
 * online (rule U26), and which users are online (rule E11). Connections that end within `limits.endedNoteMs` share one
 * search of the object's sessions, and the calls.
 */
export class EndedUsers {
  readonly #port: EndedUsersPort;
  readonly #users = new Map<string, EndedUser>();

  constructor(port: EndedUsersPort) {
    this.#port = port;
  }

  /** Notes that a connection of a user has ended. */
  ended({ user, hasConnected, held, identity }: EndedSession): void {
    const wasOnline = this.#port.keepsStatus && hasConnected && !held;
    // A client that polls comes back at once, and its user would come and go with each poll.
    const hasLeft = this.#port.reportsWhoIsOnline && identity.passing !== true;
    if (!wasOnline && !hasLeft) return;
    if (this.#users.size === 0) this.#port.later(limits.endedNoteMs, () => this.#report());
    const before = this.#users.get(user);
    this.#users.set(user, {
      user,
      wasOnline: wasOnline || before?.wasOnline === true,
      hasLeft: hasLeft || before?.hasLeft === true,
    });
  }

  #report(): void {
    const gone = new Map(this.#users);
    this.#users.clear();
    for (const user of this.#port.users()) gone.delete(user);
    for (const [home, users] of Map.groupBy(gone.values(), homeOf)) {
      for (let start = 0; start < users.length; start += limits.registerUsersMax) {
        const ended = users.slice(start, start + limits.registerUsersMax);
        this.#port.report(
          home,
          ended.filter(({ wasOnline }) => wasOnline).map(({ user }) => user),
          ended.filter(({ hasLeft }) => hasLeft).map(({ user }) => user),
        );
      }
    }
  }
}

/** A session that has ended, as far as it says whether its user is still online. */
export interface EndedSession {
  readonly user: string;
  /** Whether its connect had been accepted. */
  readonly hasConnected: boolean;
  /** Whether the user's home hadn't answered yet. */
  readonly held: boolean;
  readonly identity: { readonly passing?: boolean };
}

interface EndedUsersPort {
  /** Whether the homes keep when users were online. */
  readonly keepsStatus: boolean;
  /** Whether a backend gets events of users who are online. */
  readonly reportsWhoIsOnline: boolean;
  /** Does the work after so many ms. */
  later(waitMs: number, work: () => void): void;
  /** The users of the object's connections, once for each connection. */
  users(): Iterable<string>;
  /**
   * Calls a home, once. A report that doesn't arrive is lost, until the home asks by itself (rule U15).
   *
   * @param wereOnline users who were online until now
   * @param left       users who may have no connection on the object any more
   */
  report(home: string, wereOnline: readonly string[], left: readonly string[]): void;
}

/** A user of whom a connection has ended. */
interface EndedUser {
  readonly user: string;
  readonly wasOnline: boolean;
  readonly hasLeft: boolean;
}

function homeOf({ user }: EndedUser): string {
  return homeName(userKey(user));
}
