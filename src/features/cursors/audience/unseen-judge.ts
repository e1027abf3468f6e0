import type { StreamPosition } from "../../../protocol/publication.ts";
import type { ToldEvent } from "../../../object/part.ts";
import { type NotifyOptions, type CursorOptions, judgedAtAgeMs } from "../config.ts";
import type { CountedStretch } from "./counted-stretch.ts";
import type { Coverage, ReadonlyUserProofs, Stretch } from "../coverage.ts";
import type { KeptUsers } from "../forgetting/kept-users.ts";
import { JudgedProgress, type JudgedRange, JudgedTable } from "./judged-progress.ts";
import { type Member, sinceIn } from "./member-table.ts";
import { inEpoch } from "../mark-table.ts";
import type { PartedChannel, PartSetup } from "../../../channel/channel-part.ts";
import { type TagsFilter, tagsFilter } from "../../../protocol/tags-filter.ts";
import { cursorLimits } from "../limits.ts";

declare module "../../../object/part.ts" {
  interface ToldEvents {
    /** A member of a channel's audience hasn't seen publications in time (rule CU23). */
    readonly unseen: SeenPublications & { readonly count: number; readonly sinceMs: number };
    /** A member has seen what was reported before (rule CU26). */
    readonly seen: SeenPublications;
  }
}

/**
 * Judges which publications the members of an audience haven't seen, and reports them to a backend (rules CU23 and
 * CU26).
 */
export class UnseenJudge {
  readonly #channel: { readonly name: string; readonly top: StreamPosition | undefined };
  readonly #notify: NotifyOptions;
  readonly #kept: KeptUsers;
  readonly #progress: JudgedProgress;
  /** Reports an event to a backend; undefined if no backend gets events. */
  tell: ((event: ToldEvent, nowMs: number) => void) | undefined;
  /** Whether the log of events has room for so many (rule CU46). */
  hasRoomFor = (_events: number): boolean => true;

  constructor({ channel, notify, kept, progress }: JudgeSetup) {
    this.#channel = channel;
    this.#notify = notify;
    this.#kept = kept;
    this.#progress = progress;
  }

  /**
   * Finds the members of a slice whose rows don't prove that they have seen everything that counts for them.
   *
   * @param after the last user of the slice before
   */
  unknown(stretch: CountedStretch, epoch: string, after: string, limit: number): JudgedSlice {
    const members = this.#kept.members.page(after, limit);
    const users = members.filter((member) => this.#unseen(member, stretch, epoch, []).length > 0);
    const isEnd = members.length < limit;
    return { users: users.map(({ user }) => user), last: members.at(-1)?.user ?? "", isEnd };
  }

  /** Whether a user is a member and isn't known to have seen what counts, whatever is asked of others. */
  isUnseen(user: string, stretch: CountedStretch, epoch: string, proofs: readonly Coverage[]) {
    const member = this.#kept.members.find(user);
    return member !== undefined && this.#unseen(member, stretch, epoch, proofs).length > 0;
  }

  /**
   * Reports what the members of the next slice haven't seen, and writes down that it did, in one stretch. If the log of
   * events is full, the remaining members are judged later.
   *
   * @param proofs what the members are known to have received beside what their rows hold
   */
  report(
    range: JudgedRange,
    stretch: CountedStretch,
    proofs: ReadonlyUserProofs,
    slice: { readonly after: string; readonly limit: number },
    nowMs: number,
  ): Pick<JudgedSlice, "last" | "isEnd"> & { readonly isFull: boolean } {
    const members = this.#kept.members.page(slice.after, slice.limit);
    let hasTold = false;
    let [last, isFull] = [slice.after, false];
    for (const member of members) {
      const got = proofs.get(member.user) ?? [];
      this.#resolve(member, got, nowMs);
      const parts = this.#unseen(member, stretch, range.epoch, got);
      // When judging begins or goes on there is room for at least one member, so it always gets further.
      isFull = last !== range.afterUser && !this.hasRoomFor(parts.length);
      if (isFull) break;
      if (parts.length > 0) this.#tellUnseen(member, range.epoch, parts, nowMs);
      hasTold ||= parts.length > 0;
      last = member.user;
    }
    const isEnd = !isFull && members.length < slice.limit;
    // What is judged now is asked for once more if the object crashes before that is written.
    this.#kept.earlier.prune(slice.after, isEnd ? undefined : last, range.epoch, range.after);
    if (isEnd) this.#progress.finish(range, nowMs);
    else if (isFull) this.#progress.pause(range, last, nowMs);
    else if (hasTold) this.#progress.passed(range, last, nowMs);
    return { last, isEnd, isFull };
  }

  /**
   * More is known of what a user has received or read: publications that were reported as unseen may be seen now (rule
   * CU26).
   */
  noteSeen(user: string, nowMs: number): void {
    if (!this.#notify.seen) return;
    const member = this.#kept.members.find(user);
    if (member !== undefined) this.#resolve(member, [], nowMs);
  }

  #resolve(member: Member, got: readonly Coverage[], nowMs: number): void {
    const { user, epoch, unseen } = member;
    if (unseen === undefined || epoch !== this.#channel.top?.epoch) return;
    const { from, to } = unseen;
    if (this.#partsOf(user, { since: from - 1, offset: to }, epoch, got).length > 0) return;
    this.#kept.members.write({ ...member, unseen: undefined }, false, nowMs);
    this.tell?.({ type: "seen", channel: this.#channel.name, user, epoch, from, to }, nowMs);
  }

  #tellUnseen(member: Member, epoch: string, parts: readonly CountedPart[], nowMs: number): void {
    const { user } = member;
    const channel = this.#channel.name;
    for (const { from, to, count } of parts) {
      const sinceMs = this.#progress.timeOf(from);
      this.tell?.({ type: "unseen", channel, user, epoch, from, to, count, sinceMs }, nowMs);
    }
    const [first] = parts;
    const last = parts.at(-1);
    if (!this.#notify.seen || first === undefined || last === undefined) return;
    const before = member.epoch === epoch ? member.unseen : undefined;
    const unseen = { from: before?.from ?? first.from, to: last.to };
    this.#kept.members.write({ user, epoch, since: sinceIn(epoch, member), unseen }, false, nowMs);
  }

  /** The publications of a stretch that count for a member who hasn't seen them, in parts with a seen one between them. */
  #unseen(
    member: Member,
    stretch: CountedStretch,
    epoch: string,
    got: readonly Coverage[],
  ): readonly CountedPart[] {
    const since = Math.max(stretch.after, sinceIn(epoch, member));
    return this.#partsOf(member.user, { since, offset: stretch.last }, epoch, got).flatMap(
      (part) => stretch.countFor(member.user, part.since, part.offset) ?? [],
    );
  }

  /** Which parts of some publications a user hasn't seen. */
  #partsOf(
    user: string,
    { since, offset }: Stretch,
    epoch: string,
    got: readonly Coverage[],
  ): readonly Stretch[] {
    const { marks, earlier } = this.#kept;
    const kept = marks.find(user);
    const { read = 0, covered } = kept === undefined ? nothing : inEpoch(kept, epoch);
    const rest = [{ since: Math.max(since, read), offset }].filter(isThere);
    if (this.#notify.unless === "read") return rest;
    // Stretches with a hole between them count separately.
    const known = [...(covered === undefined ? [] : [covered]), ...got];
    const left = without(
      rest,
      known.filter((one) => one.epoch === epoch),
    );
    return left.length === 0 ? left : without(left, earlier.of(user, epoch));
  }
}

/** What a judge works with. */
interface JudgeSetup {
  readonly channel: { readonly name: string; readonly top: StreamPosition | undefined };
  readonly notify: NotifyOptions;
  readonly kept: KeptUsers;
  readonly progress: JudgedProgress;
}

/** A slice of an audience. */
interface JudgedSlice {
  /** The members that the search has found. */
  readonly users: readonly string[];
  /** The last user of the slice. */
  readonly last: string;
  /** Whether no member comes after it. */
  readonly isEnd: boolean;
}

/** Publications of a channel that a user has seen, or hasn't. */
interface SeenPublications {
  readonly channel: string;
  readonly user: string;
  readonly epoch: string;
  /** The offsets of the first and the last one. */
  readonly from: number;
  readonly to: number;
}

type CountedPart = NonNullable<ReturnType<CountedStretch["countFor"]>>;

const nothing = { read: undefined, covered: undefined };

function isThere({ since, offset }: Stretch): boolean {
  return since < offset;
}

/** The parts of some stretches that no other stretch covers. */
function without(parts: readonly Stretch[], others: readonly Stretch[]): readonly Stretch[] {
  return others.filter(isThere).reduce(
    (left, { since, offset }) =>
      left
        .flatMap((part) => [
          { since: part.since, offset: Math.min(part.offset, since) },
          { since: Math.max(part.since, offset), offset: part.offset },
        ])
        .filter(isThere),
    parts,
  );
}

/** The parts that judge the publications of a channel for its audience. */
export interface Notices {
  readonly judge: UnseenJudge;
  readonly progress: JudgedProgress;
  /** Lets through the publications that count; undefined if all do. */
  readonly filter: TagsFilter | undefined;
  /** Whether what has arrived counts as seen. */
  readonly asksWhoGot: boolean;
  /** The time within which a connection is sent a ping and answers it, in ms. */
  readonly answerMs: number;
}

/** The notices of a channel; undefined if none are sent to a backend. */
export function noticesOf(
  channel: PartedChannel,
  { notify, audience, unreadFilter }: CursorOptions,
  { sql, nowMs }: Pick<PartSetup, "sql" | "nowMs">,
  kept: KeptUsers,
  pingIntervalMs: number,
): Notices | undefined {
  const table = new JudgedTable(sql);
  if (notify === undefined || audience === "none") {
    table.clear();
    kept.earlier.clear();
    return undefined;
  }
  const answerMs = pingIntervalMs + cursorLimits.judgedAnswerMs;
  const askAgainMs = Math.max(answerMs, cursorLimits.judgedAskAgainMs);
  const hasMembers = (): boolean => kept.members.size > 0;
  const progress = new JudgedProgress({
    channel,
    table,
    afterMs: notify.afterMs,
    judgedAtAgeMs: judgedAtAgeMs(notify),
    askAgainMs,
    hasMembers,
    nowMs,
  });
  const judge = new UnseenJudge({ channel, notify, kept, progress });
  const filter = unreadFilter && tagsFilter(unreadFilter);
  return { judge, progress, filter, asksWhoGot: notify.unless === "got", answerMs };
}
