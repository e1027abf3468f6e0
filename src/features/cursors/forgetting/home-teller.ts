import { userKey } from "../../../contract/identity-key.ts";
import { homeName } from "../../../contract/object-names.ts";
import { NextTimer } from "../../../object/alarm-schedule.ts";
import { answerOf } from "../../../object/object-call.ts";
import type { ObjectPart, PartedChannelObject } from "../../../object/part.ts";
import type { KeptUser } from "../calls.ts";
import { cursorLimits } from "../limits.ts";
import type { UntoldTable } from "./kept-users.ts";

/** A channel's records of users, and the users whose homes haven't heard of them yet. */
export interface ToldToHomes {
  readonly untold: UntoldTable;
  /** Deletes everything that is kept of a user. */
  forget(user: string): void;
  /** The tables are gone. */
  deleted(): void;
}

/**
 * Reports to the homes of users that the channel keeps something of these users. So a home finds the channel when a
 * user is to be forgotten (rule CU31).
 */
export class HomeTeller implements ObjectPart {
  readonly #object: PartedChannelObject;
  readonly #kept: ToldToHomes;
  readonly #report: "keepUsers" | "keepAuthors";
  /** The users in calls to homes that are under way, except those who were forgotten since the call. */
  readonly #told = new Set<string>();
  #callsUnderWay = 0;
  /** When homes that didn't answer are called again, ms since 1970. */
  #pausedUntilMs = 0;
  readonly #timer: NextTimer;

  /** @param report the call to the homes */
  constructor(object: PartedChannelObject, kept: ToldToHomes, report: "keepUsers" | "keepAuthors") {
    this.#object = object;
    this.#kept = kept;
    this.#report = report;
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

  storageDeleted(): void {
    this.#kept.deleted();
  }

  /** Deletes everything that is kept of a user. */
  forget(user: string): void {
    this.#told.delete(user);
    this.#kept.forget(user);
  }

  /** Calls the homes of the next users, as many as may be reported at once. */
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
      this.#report,
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
          // If the user was forgotten since the call, what is kept now is newer, and is reported in another call.
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
