import type { Ordered } from "../../../contract/user-order.ts";
import { limits } from "../../../limits.ts";
import { NextTimer } from "../../../object/alarm-schedule.ts";
import { answerOf } from "../../../object/object-call.ts";
import type { HomePart, PartedHome } from "../../../object/part.ts";
import { forEachInTurns } from "../../../users/in-turns.ts";
import { ChannelIndexTable } from "./channel-index-table.ts";
import { cursorMethodsOf } from "../client-methods.ts";
import type { KeptAnswer, KeptUser } from "./kept-user.ts";
import { cursorLimits } from "../limits.ts";

/**
 * Knows in a home which channels keep something of its users, and has them forget a user (rules CU30 to CU34). A round
 * that was interrupted, or that a channel hasn't answered, goes on by the alarm.
 */
export class ChannelIndex implements HomePart {
  readonly #home: PartedHome;
  readonly #table: ChannelIndexTable;
  /** The users whose channels are being called. */
  readonly #active = new Set<string>();
  /** Failed passes of users, and when the next one is due, ms since 1970. */
  readonly #failed = new Map<string, { readonly times: number; readonly dueAtMs: number }>();
  readonly #waiting = new Map<string, Set<() => void>>();
  readonly #timer: NextTimer;

  constructor(home: PartedHome, table: ChannelIndexTable) {
    this.#home = home;
    this.#table = table;
    const { platform } = home;
    this.#timer = new NextTimer(platform, (nowMs) => this.#goOn(nowMs));
  }

  /** A channel tells of whom it keeps something. */
  keep(channel: string, kept: readonly KeptUser[]): KeptAnswer {
    const nowMs = this.#home.platform.nowMs();
    const forget: string[] = [];
    for (const { user, forMs } of kept) {
      // The call itself may have taken that long: what could be older than a forgetting counts as older.
      const sinceMs = nowMs - forMs - cursorLimits.tellMs;
      if (!this.#table.add(user, channel, sinceMs, nowMs)) forget.push(user);
    }
    return { forget };
  }

  /** Has all channels forget a user. */
  forget(user: string, done: (ordered: Ordered) => void): void {
    const { platform, endEvent } = this.#home;
    const nowMs = platform.nowMs();
    this.#table.begin(user, nowMs);
    this.#failed.delete(user);
    const waiting = this.#waiting.get(user) ?? new Set();
    this.#waiting.set(user, waiting);
    const late = platform.after(limits.orderAnswerMs, () => {
      waiting.delete(answer);
      done({ outcome: "pending", retryAfterSeconds });
    });
    const answer = (): void => {
      late.cancel();
      done({ outcome: "done" });
    };
    waiting.add(answer);
    this.#pass(user);
    endEvent(platform.nowMs());
  }

  dueAtMs(nowMs: number): number {
    const isUnderWay = this.#table.underWay(1).length > 0;
    const againAtMs = isUnderWay ? nowMs + this.#pauseMs(nowMs) : Number.POSITIVE_INFINITY;
    return Math.min(againAtMs, this.#table.removalAtMs());
  }

  rang(nowMs: number): void {
    this.#table.remove(nowMs);
    this.#goOn(nowMs);
  }

  /** How long until the first user's channels are called again. */
  #pauseMs(nowMs: number): number {
    const pauses = [...this.#failed.values()].map(({ dueAtMs }) => dueAtMs - nowMs);
    const first = Math.min(cursorLimits.forgetAgainMs, ...pauses);
    return Math.max(first, cursorLimits.forgetPauseMs);
  }

  /** Calls the channels of users again, as far as that is due. */
  #goOn(nowMs: number): void {
    const { endEvent } = this.#home;
    for (const user of this.#table.underWay(cursorLimits.forgottenAtOnce)) {
      const failed = this.#failed.get(user);
      const waitMs = (failed?.dueAtMs ?? 0) - nowMs;
      if (waitMs <= 0 || waitMs > limits.orderRetryMsMax) this.#pass(user);
    }
    endEvent(nowMs);
  }

  /** Calls the channels that have to forget a user, page by page. */
  #pass(user: string): void {
    if (this.#active.has(user) || this.#active.size >= cursorLimits.forgottenAtOnce) return;
    this.#active.add(user);
    let isAnswered = true;
    const page = (after: string, pagesLeft: number): void => {
      const channels = this.#table.remaining(user, after, cursorLimits.forgetCallsAtOnce);
      const last = channels.at(-1);
      if (last === undefined || pagesLeft === 0) {
        this.#passed(user, isAnswered);
        return;
      }
      forEachInTurns(
        channels,
        channels.length,
        (channel, answered) =>
          this.#call(user, channel, (isForgotten) => {
            isAnswered &&= isForgotten;
            answered();
          }),
        () => page(last, pagesLeft - 1),
      );
    };
    page("", cursorLimits.forgetPagesAtOnce);
  }

  #call(user: string, channel: string, done: (isForgotten: boolean) => void): void {
    this.#home.platform.call(
      "forgetUserHere",
      channel,
      [{ user }],
      limits.objectAnswerMs,
      (reply) => {
        const isForgotten = answerOf(reply) !== undefined;
        if (isForgotten) this.#table.acknowledged(user, channel);
        done(isForgotten);
      },
    );
  }

  /** A pass has ended: the user is forgotten, or there will be another one. */
  #passed(user: string, isAnswered: boolean): void {
    const { platform, endEvent } = this.#home;
    const nowMs = platform.nowMs();
    this.#active.delete(user);
    if (this.#table.remaining(user, "", 1).length === 0) {
      this.#failed.delete(user);
      this.#table.end(user);
      for (const answer of this.#waiting.get(user) ?? []) answer();
      this.#waiting.delete(user);
    } else {
      const times = isAnswered ? 0 : (this.#failed.get(user)?.times ?? 0) + 1;
      const growingMs = limits.orderRetryMs * 2 ** Math.min(times, 20);
      const pauseMs = isAnswered ? 0 : Math.min(growingMs, limits.orderRetryMsMax);
      this.#failed.set(user, { times, dueAtMs: nowMs + pauseMs });
      // A backend waits; without one the alarm goes on.
      if ((this.#waiting.get(user)?.size ?? 0) > 0) this.#timer.set(pauseMs, nowMs);
    }
    endEvent(platform.nowMs());
  }
}

/** Makes the index of a home; undefined if nothing is kept of users, and never was. */
export function newChannelIndex(home: PartedHome): ChannelIndex | undefined {
  const { config, platform } = home;
  const table = new ChannelIndexTable(platform.sql);
  const isKept = cursorMethodsOf(config) !== undefined || table.exists;
  return isKept ? new ChannelIndex(home, table) : undefined;
}

/** The seconds after which a backend should ask again whether a user is forgotten. */
const retryAfterSeconds = 5;
