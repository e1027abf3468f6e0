import type { Invalidation, Registered } from "../contract/user-order.ts";
import { homeName } from "../contract/object-names.ts";
import { limits } from "../limits.ts";

/**
 * The calls of one object to homes, to register users and tokens (rules U5, U10). Few calls to one home are in flight;
 * what comes meanwhile shares the next call.
 */
export class Registrations {
  readonly #call: RegisterCall;
  readonly #homes = new Map<string, HomeCaller>();

  constructor(call: RegisterCall) {
    this.#call = call;
  }

  /**
   * Registers this object for a user or a token.
   *
   * @param key        of the user or the token
   * @param endSeconds when the registration may be forgotten, in seconds since 1970; 0 for never
   * @param done       takes the home's answer, later; undefined if the home didn't answer in time
   */
  register(
    key: string,
    endSeconds: number,
    done: (registration: Registration | undefined) => void,
  ): void {
    const name = homeName(key);
    let home = this.#homes.get(name);
    if (home === undefined) {
      home = { name, waiting: [], inFlight: 0 };
      this.#homes.set(name, home);
    }
    home.waiting.push({ key, endSeconds, done });
    this.#callHome(home);
  }

  /** Calls a home for what waits, if few enough calls are in flight. */
  #callHome(home: HomeCaller): void {
    if (home.inFlight >= limits.registerCallsMax || home.waiting.length === 0) return;
    const waiting = home.waiting.splice(0, limits.registerUsersMax);
    home.inFlight++;
    const keys = waiting.map(({ key }) => key);
    const answered = (registered: Registered | undefined): void => {
      home.inFlight--;
      for (const { key, done } of waiting) done(registered && registrationOf(key, registered));
      this.#callHome(home);
      if (home.inFlight === 0) this.#homes.delete(home.name);
    };
    this.#call(
      home.name,
      keys,
      answered,
      waiting.map(({ endSeconds }) => endSeconds),
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

interface HomeCaller {
  readonly name: string;
  readonly waiting: WaitingRegistration[];
  inFlight: number;
}

interface WaitingRegistration {
  readonly key: string;
  readonly endSeconds: number;
  readonly done: (registration: Registration | undefined) => void;
}
