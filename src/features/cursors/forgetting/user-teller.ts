import { userKey } from "../../../contract/identity-key.ts";
import { homeName } from "../../../contract/object-names.ts";
import { NextTimer } from "../../../object/alarm-schedule.ts";
import { answerOf } from "../../../object/object-call.ts";
import type { ObjectPart, PartedChannelObject } from "../../../object/part.ts";
import type { KeptUser } from "../calls.ts";
import { cursorLimits } from "../limits.ts";
import type { KeptUsers } from "./kept-users.ts";

/**
 * Tells users' homes of which users the channel keeps something, so that they find the channel when a user is to be
 * forgotten (rule CU31).
 */
export class UserTeller implements ObjectPart {
  readonly #object: PartedChannelObject;
  readonly #kept: KeptUsers;
  /** Those of whom homes are being told. One who is forgotten meanwhile isn't among them any more. */
  readonly #told = new Set<string>();
  #callsUnderWay = 0;
  /** When homes that didn't answer are called again, ms since 1970. */
  #pausedUntilMs = 0;
  readonly #timer: NextTimer;

  constructor(object: PartedChannelObject, kept: KeptUsers) {
    this.#object = object;
    this.#kept = kept;
    const { platform } = object;
    this.#timer = new NextTimer(platform, (nowMs) => object.endEvent(nowMs));
  }

  settle(nowMs: number): void {
    const { users } = this.#kept.untold;
    const isCalling = this.#callsUnderWay > 0;
    if (users.size === 0 || isCalling) {
      this.#timer.set(undefined, nowMs);
      return;
    }
    const pauseMs = this.#pausedUntilMs - nowMs;
    // A pause that seems longer began before the clock was set back.
    if (pauseMs > 0 && pauseMs <= cursorLimits.tellPauseMs) this.#timer.set(pauseMs, nowMs);
    else this.#tell(nowMs);
  }

  /** The alarm goes on where an instance was lost before the homes had answered. */
  dueAtMs(nowMs: number): number {
    const { size } = this.#kept.untold.users;
    return size === 0 ? Number.POSITIVE_INFINITY : nowMs + cursorLimits.tellAgainMs;
  }

  storesNothing(): boolean {
    return this.#kept.untold.users.size === 0;
  }

  /** Deletes everything that is kept of a user. */
  forget(user: string): void {
    this.#told.delete(user);
    this.#kept.forget(user);
  }

  /** Calls the homes of as many users as may be told of at once. */
  #tell(nowMs: number): void {
    const next = firstOf(this.#kept.untold.users, cursorLimits.toldUsersMax);
    const homes = Map.groupBy(next, ([user]) => homeName(userKey(user)));
    for (const [user] of next) this.#told.add(user);
    this.#callsUnderWay = homes.size;
    this.#object.called(homes.size);
    for (const [home, users] of homes) {
      const kept = users.map(([user, sinceMs]) => ({ user, forMs: Math.max(0, nowMs - sinceMs) }));
      this.#call(home, kept);
    }
  }

  #call(home: string, kept: readonly KeptUser[]): void {
    const { platform, channel, endEvent } = this.#object;
    platform.call(
      "keepUsers",
      home,
      [{ channel: channel.name, kept }],
      cursorLimits.tellMs,
      (reply) => {
        const answer = answerOf(reply);
        const nowMs = platform.nowMs();
        this.#callsUnderWay--;
        if (answer === undefined) this.#pausedUntilMs = nowMs + cursorLimits.tellPauseMs;
        const forgotten = new Set(answer?.forget);
        for (const { user } of kept) {
          // What is kept of a user who was forgotten since is new, and the home is told of it anew.
          if (!this.#told.delete(user)) continue;
          if (answer === undefined) this.#kept.untold.putOff(user);
          else if (forgotten.has(user)) this.#kept.forget(user);
          else this.#kept.untold.remove(user);
        }
        endEvent(nowMs);
      },
    );
  }
}

/** The first entries: there may be a hundred thousand. */
function firstOf(users: ReadonlyMap<string, number>, count: number): readonly [string, number][] {
  const first: [string, number][] = [];
  for (const entry of users) {
    first.push(entry);
    if (first.length === count) break;
  }
  return first;
}
