import type { ObjectPart, PartedChannelObject } from "../../../object/part.ts";
import type { TagsFilter } from "../../../protocol/tags-filter.ts";
import { CountedStretch } from "./counted-stretch.ts";
import type { CoverageCensus, FoundCoverage } from "../coverage.ts";
import type { JudgedProgress, JudgedRange } from "./judged-progress.ts";
import { cursorLimits } from "../limits.ts";
import type { UnseenJudge } from "./unseen-judge.ts";

/**
 * Judges the publications of a channel for its audience when the alarm rings for them, in slices (rules CU23 to CU25): it
 * reads what counts, finds the members who aren't known to have seen it, asks who holds connections of these, and has a
 * backend told of the others.
 */
export class UnseenWatch implements ObjectPart {
  readonly #object: PartedChannelObject;
  readonly #setup: WatchSetup;

  constructor(object: PartedChannelObject, setup: WatchSetup) {
    this.#object = object;
    this.#setup = setup;
    setup.judge.tell = object.tell;
    const { keepMax } = object.config.events ?? { keepMax: Infinity };
    const fills = (share: number, more: number): boolean =>
      object.untaken() + more > keepMax * share;
    setup.judge.hasRoomFor = (events) => !fills(cursorLimits.judgedLogShare, events);
    setup.progress.hasRoom = () => !fills(cursorLimits.judgedAgainLogShare, 0);
  }

  settle(nowMs: number): void {
    this.#setup.progress.note(nowMs);
  }

  storageDeleted(): void {
    this.#setup.progress.deleted();
  }

  dueAtMs(nowMs: number): number {
    return this.#setup.progress.dueAtMs(nowMs);
  }

  ring(nowMs: number): void {
    const { progress, filter } = this.#setup;
    const range = progress.next(nowMs);
    if (range === undefined) return;
    this.#read(range, new CountedStretch(range.after, range.last, filter));
  }

  #read(range: JudgedRange, stretch: CountedStretch): void {
    const { stored } = this.#object.channel;
    this.#inSlices(range, () => {
      const isAll = stretch.read(stored, cursorLimits.judgedSliceRows);
      if (isAll) this.#find(range, stretch);
      return isAll;
    });
  }

  /** Finds the members of whom somebody has to be asked. */
  #find(range: JudgedRange, stretch: CountedStretch): void {
    const { judge, census, asksWhoGot } = this.#setup;
    const { judgedSliceMembers, censusUsersMax } = cursorLimits;
    const unknown = new Set<string>();
    let after = range.afterUser;
    this.#inSlices(range, () => {
      const { users, last, isEnd } = judge.unknown(stretch, range.epoch, after, judgedSliceMembers);
      for (const user of users) unknown.add(user);
      after = last;
      const isAll = isEnd || unknown.size > censusUsersMax;
      if (!isAll) return false;
      if (unknown.size === 0 || !asksWhoGot) this.#report(range, stretch, nothingFound);
      else
        census.ask(
          unknown.size > censusUsersMax ? "all" : unknown,
          (found) => this.#found(range, stretch, found),
          range.last,
        );
      return true;
    });
  }

  #found(range: JudgedRange, stretch: CountedStretch, found: FoundCoverage): void {
    const { progress, judge, answerMs } = this.#setup;
    const { judgedAskAgainMax, judgedAskAgainMs, judgedSliceMembers } = cursorLimits;
    if (!progress.isRunning(range)) return;
    const { platform } = this.#object;
    const hasWaited = range.asked >= askedAfterPing;
    const inVain = hasWaited ? range.asked - askedAfterPing : range.asked;
    if (!found.isComplete && inVain < judgedAskAgainMax) {
      const nowMs = platform.nowMs();
      progress.postpone(range, range.asked + 1, nowMs + judgedAskAgainMs, nowMs);
      return;
    }
    if (hasWaited || inVain >= judgedAskAgainMax) {
      this.#report(range, stretch, found);
      return;
    }
    const unsure = [...found.unsure];
    this.#inSlices(range, () => {
      const slice = unsure.splice(0, judgedSliceMembers);
      const waits = slice.some((user) =>
        judge.isUnseen(user, stretch, range.epoch, found.proofs.get(user) ?? []),
      );
      // By then each connection has had a ping and the time to answer it, so that is waited for once.
      const nowMs = platform.nowMs();
      if (waits) progress.postpone(range, askedAfterPing, nowMs + answerMs, nowMs);
      else if (unsure.length === 0) this.#report(range, stretch, found);
      return waits || unsure.length === 0;
    });
  }

  #report(
    range: JudgedRange,
    stretch: CountedStretch,
    { proofs }: Pick<FoundCoverage, "proofs">,
  ): void {
    const { judge } = this.#setup;
    let after = range.afterUser;
    this.#inSlices(range, () => {
      const slice = { after, limit: cursorLimits.judgedSliceMembers };
      const nowMs = this.#object.platform.nowMs();
      const { last, isEnd, isFull } = judge.report(range, stretch, proofs, slice, nowMs);
      after = last;
      return isEnd || isFull;
    });
  }

  /** Works until it is done, or the stream has ended: the first slice now, and each further one in another turn. */
  #inSlices(range: JudgedRange, work: () => boolean): void {
    if (!this.#setup.progress.isRunning(range) || work()) return;
    this.#object.later(0, () => this.#inSlices(range, work));
  }
}

/** What a watch works with. */
interface WatchSetup {
  readonly judge: UnseenJudge;
  readonly progress: JudgedProgress;
  /** Lets through the publications that count; undefined if all do. */
  readonly filter: TagsFilter | undefined;
  readonly census: CoverageCensus;
  /** Within which time a connection has been sent a ping, and has answered it, in ms. */
  readonly answerMs: number;
  /** Whether what has arrived counts as seen. */
  readonly asksWhoGot: boolean;
}

/** From here on it is counted how often somebody was asked in vain after the ping that had to be waited for. */
const askedAfterPing = cursorLimits.judgedAskAgainMax + 1;

const nothingFound = { proofs: new Map() } as const;
