import type { Invalidation, Registered } from "../contract/user-order.ts";
import { limits } from "../limits.ts";
import { SharedCalls } from "./shared-calls.ts";

/** Registers one object with the homes of users and tokens, in shared calls (rules U5, U10). */
export class Registrations {
  readonly #calls: SharedCalls<RegisterQuestion, Registered>;

  constructor(call: RegisterCall) {
    this.#calls = new SharedCalls((home, questions, done) => {
      const keys = questions.map(({ key }) => key);
      const ends = questions.map(({ endSeconds }) => endSeconds);
      call(home, keys, done, ends);
    }, limits.registerCallsMax);
  }

  /**
   * Registers this object for a user or a token.
   *
   * @param key        of the user or the token
   * @param endSeconds when the registration may be forgotten, in seconds since 1970; 0 for never
   * @param done       takes the home's answer, later; undefined if the home didn't answer in time
   * @param asked      called when the home is called
   */
  register(
    key: string,
    endSeconds: number,
    done: (registration: Registration | undefined) => void,
    asked?: () => void,
  ): void {
    this.#calls.ask(
      { key, endSeconds },
      (registered) => done(registered === undefined ? undefined : registrationOf(key, registered)),
      asked,
    );
  }
}

/**
 * Calls a home to register users and tokens, once or twice.
 *
 * @param users the keys of users and tokens
 * @param done  called once, with undefined if the home didn't answer in time
 * @param ends  for each key when the registration may be forgotten, in seconds since 1970; 0 for never
 */
export type RegisterCall = (
  home: string,
  users: readonly string[],
  done: (registered: Registered | undefined) => void,
  ends: readonly number[],
) => void;

/** A home's answer about one user or token. */
export interface Registration {
  /** The number of the home's last order. */
  readonly lastOrder: number;
  /** Whether the user is blocked, or the token revoked. */
  readonly barred: boolean;
  /** What makes tokens of the user invalid. */
  readonly invalidations: readonly Invalidation[];
}

function registrationOf(key: string, registered: Registered): Registration {
  const { lastOrder, blocked = [], invalidations = [] } = registered;
  return {
    lastOrder,
    barred: blocked.includes(key),
    invalidations: invalidations.filter(({ user }) => user === key),
  };
}

interface RegisterQuestion {
  readonly key: string;
  readonly endSeconds: number;
}
