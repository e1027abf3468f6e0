import type { ChannelPart, PartedChannel, PartOutcome } from "../../channel/channel-part.ts";
import type { ChannelOperation } from "../../contract/channel-call.ts";
import type { RelayEntry } from "../../contract/relay-batch.ts";
import type { RelayRequest } from "../../contract/relay-request.ts";
import { errorCodes } from "../../protocol/codes.ts";
import type { FieldWriter } from "../../protocol/fields.ts";
import { isReadable } from "../../protocol/change-tags.ts";
import { jsonOf } from "../../protocol/json/encode.ts";
import { trustedJsonText } from "../../protocol/json/text.ts";
import type { ClientInfo, StreamPosition } from "../../protocol/publication.ts";
import { type TagsFilter, tagsFilter } from "../../protocol/tags-filter.ts";
import type { CursorOptions } from "./config.ts";
import { type CoverageCensus, type Coverage, extend, leftOut, listProofs } from "./coverage.ts";
import type { MarkRequest, UserRequest, MarksQuery } from "./calls.ts";
import type { KeptUsers } from "./forgetting/kept-users.ts";
import { cursorLimits } from "./limits.ts";
import { type MarkTable, inEpoch, type UserMark } from "./mark-table.ts";
import { type MemberTable, sinceIn } from "./audience/member-table.ts";
import type { Notices } from "./audience/unseen-judge.ts";

/** Keeps how far each user of a channel has read, and counts what is unread (rules CU). */
export class ChannelCursors implements ChannelPart {
  readonly #channel: PartedChannel;
  readonly #options: CursorOptions;
  readonly #filter: TagsFilter | undefined;
  /** Everything that the channel keeps of users. */
  readonly kept: KeptUsers;
  readonly #table: MarkTable;
  readonly #members: MemberTable;
  readonly #notices: Notices | undefined;
  /** Undefined where nobody can be asked. */
  census: CoverageCensus | undefined;

  constructor(
    channel: PartedChannel,
    options: CursorOptions,
    kept: KeptUsers,
    notices: Notices | undefined,
  ) {
    this.#channel = channel;
    this.#options = options;
    this.#filter = options.unreadFilter && tagsFilter(options.unreadFilter);
    this.kept = kept;
    this.#table = kept.marks;
    this.#members = kept.members;
    this.#notices = notices;
  }

  /** Whether nothing is kept of anybody. */
  get isEmpty(): boolean {
    return this.kept.isEmpty;
  }

  carryOut(operation: ChannelOperation, nowMs: number): PartOutcome | undefined {
    if (operation.method === "delivered") return this.#delivered(operation.request, nowMs);
    if (operation.method === "marks") return this.#list(operation, nowMs);
    if (operation.method !== "mark_read" && operation.method !== "unread") return undefined;
    const { request, info } = operation;
    const kept = this.#table.find(request.user);
    if (request.ifKept === true && kept === undefined)
      return { outcome: "failed", error: errorCodes.permissionDenied };
    const outcome =
      operation.method === "mark_read"
        ? this.#mark(operation.request, info !== undefined, kept, nowMs)
        : this.#unread(operation.request, kept, nowMs);
    return answerFor(operation, outcome);
  }

  #list(operation: Extract<ChannelOperation, { method: "marks" }>, nowMs: number): PartOutcome {
    const { request, info } = operation;
    const top = this.top(nowMs);
    return answerFor(operation, markList(this.#table, request, top, info === undefined));
  }

  /**
   * Moves a user's mark forward, or answers with the mark that stands (rules CU1 to CU3).
   *
   * @param isOwn whether a client of the user marks, and so claims to have received everything up to the mark (rule
   *              CU11)
   */
  #mark(request: MarkRequest, isOwn: boolean, kept: UserMark | undefined, nowMs: number) {
    const { user, offset, epoch } = request;
    const top = this.top(nowMs);
    if (epoch !== "" && epoch !== top.epoch) return { outcome: "unrecoverable-position" } as const;
    if (offset > top.offset) return { outcome: "failed", error: beyondTop } as const;
    const before = kept && inEpoch(kept, top.epoch);
    const read = Math.max(before?.read ?? 0, offset);
    const covered =
      isOwn && offset > 0
        ? extend(before?.covered, { ...top, since: 0, offset, by: "command", atMs: nowMs })
        : before?.covered;
    const isChanged =
      before === undefined || read !== before.read || before.isReset || covered !== before.covered;
    const start = before?.start ?? this.#memberSince(user, top) ?? top.offset;
    const readMs = read === before?.read ? before.readMs : nowMs;
    const mark = { user, epoch: top.epoch, read, readMs, start, isReset: false, covered };
    if (isChanged && !this.kept.mark(mark, kept, nowMs)) return { outcome: "full" } as const;
    if (isChanged) this.#notices?.judge.noteSeen(user, nowMs);
    const fields = (out: FieldWriter): void => {
      out.unsigned(1, "read", read, "always");
      out.text(2, "epoch", top.epoch, "always");
    };
    return { outcome: "result", fields } as const;
  }

  /** Asks the objects with connections of the users before `delivered` is answered for them (rule CU10). */
  whenReadable(
    calls: readonly (ChannelOperation | RelayRequest)[],
    nowMs: number,
    done: (outcome: "ready") => void,
  ): void {
    const users = new Set<string>();
    for (const call of calls) if (call.method === "delivered") users.add(call.request.user);
    if (users.size === 0 || this.census === undefined) {
      done("ready");
      return;
    }
    this.census.ask(users, ({ proofs }) => {
      for (const { user, proof } of listProofs(proofs)) this.prove(user, proof, nowMs);
      done("ready");
    });
  }

  announced(entry: RelayEntry, nowMs: number): void {
    if (entry.type === "arrived") this.prove(entry.user, entry.proof, nowMs);
  }

  /** Keeps what a user has received, if that is more than the row has. */
  prove(user: string, proof: Coverage, nowMs: number): void {
    const top = this.top(nowMs);
    if (user === "" || proof.epoch !== top.epoch || proof.offset > top.offset) return;
    const kept = this.#table.find(user);
    const before = kept && inEpoch(kept, top.epoch);
    const covered = extend(before?.covered, proof);
    const left = leftOut(before?.covered, proof);
    if (left !== undefined) this.#keepEarlier(user, left, nowMs);
    if (covered !== before?.covered) {
      const {
        read,
        readMs,
        start = this.#memberSince(user, top) ?? proof.since,
        isReset = false,
      } = before ?? {};
      const mark = { user, epoch: top.epoch, read, readMs, start, isReset, covered };
      // Without room for another user nothing is known of this one.
      if (!this.kept.mark(mark, kept, nowMs)) return;
    } else if (left === undefined) return;
    this.#notices?.judge.noteSeen(user, nowMs);
  }

  /** Keeps what a member received before the stretch of its row, unless that is judged already (rule CU45). */
  #keepEarlier(user: string, left: Coverage, nowMs: number): void {
    const { asksWhoGot, progress } = this.#notices ?? {};
    const judgedTo = asksWhoGot === true ? progress?.judged?.upTo : undefined;
    if (judgedTo === undefined || left.offset <= judgedTo) return;
    if (this.#members.find(user) !== undefined) this.kept.earlier.add(user, left, nowMs);
  }

  /** Says what a user is known to have received (rule CU10). */
  #delivered({ user }: UserRequest, nowMs: number): PartOutcome {
    const top = this.top(nowMs);
    const kept = this.#table.find(user);
    const covered = kept && inEpoch(kept, top.epoch).covered;
    const fields = (out: FieldWriter): void => {
      out.unsigned(1, "offset", covered?.offset ?? 0, "always");
      out.unsigned(2, "since", covered?.since);
      out.text(3, "epoch", top.epoch, "always");
      out.text(4, "by", covered?.by);
      out.unsigned(5, "at_ms", covered?.atMs);
    };
    return { outcome: "result", fields };
  }

  /** Counts the publications after a user's mark (rules CU4 to CU6). */
  #unread({ user }: UserRequest, kept: UserMark | undefined, nowMs: number) {
    const top = this.top(nowMs);
    const mark = kept && inEpoch(kept, top.epoch);
    const read = mark?.read ?? this.#startOf(user, mark, top);
    const { count, isCapped } = this.#count(user, read, top, nowMs);
    const fields = (out: FieldWriter): void => {
      out.unsigned(1, "unread", count, "always");
      out.flag(2, "capped", isCapped);
      out.unsigned(3, "read", read, "always");
      out.flag(4, "reset", mark?.isReset);
      out.unsigned(5, "offset", top.offset, "always");
      out.text(6, "epoch", top.epoch, "always");
    };
    return { outcome: "result", fields } as const;
  }

  /** Where a user is who has marked nothing in this epoch. */
  #startOf(user: string, mark: UserMark | undefined, top: StreamPosition): number {
    // A mark in an epoch that has ended doesn't count: everything in this epoch came later (rule CU5).
    if (mark?.isReset === true) return 0;
    switch (this.#options.unreadFrom) {
      case "all":
        return 0;
      case "none":
        return top.offset;
      case "subscribed":
        return mark?.start ?? this.#memberSince(user, top) ?? top.offset;
    }
  }

  /** Where a user became a member of the audience; undefined if the user is none. */
  #memberSince(user: string, { epoch }: StreamPosition): number | undefined {
    const member = this.#members.find(user);
    return member && sinceIn(epoch, member);
  }

  /**
   * Counts the unread publications after an offset. Publications that the history has lost count too, because their
   * publishers aren't known any more (rule CU6).
   */
  #count(user: string, after: number, { offset: top }: StreamPosition, nowMs: number): Unread {
    const { unreadMax } = this.#options;
    const kept = this.#channel.stored.readable(nowMs);
    const first = Math.max(after + 1, kept?.first ?? top + 1);
    let count = 0;
    for (let last = top; last >= first; last -= cursorLimits.unreadRowsAtOnce) {
      const from = Math.max(first, last - cursorLimits.unreadRowsAtOnce + 1);
      for (const { tags, publisher } of this.#channel.stored.labels(from, last))
        if (publisher !== user && isReadable(tags) && this.#filter?.matches(tags) !== false)
          count++;
      if (count > unreadMax) return { count: unreadMax, isCapped: true };
    }
    count += first - 1 - after;
    return { count: Math.min(count, unreadMax), isCapped: count > unreadMax };
  }

  /** The channel's position; without a stream its epoch is "". */
  top(nowMs: number): StreamPosition {
    return this.#channel.topAt(nowMs) ?? noPosition;
  }
}

/** The outcome for those who have asked: a client gets the result as the data of a reply. */
function answerFor({ info }: { readonly info?: ClientInfo }, outcome: PartOutcome): PartOutcome {
  if (outcome.outcome !== "result" || info === undefined) return outcome;
  const data = trustedJsonText(jsonOf(undefined, outcome.fields));
  return { outcome: "reply", reply: { outcome: "answered", data } };
}

/** The number of unread publications. */
interface Unread {
  readonly count: number;
  /** There are more. */
  readonly isCapped: boolean;
}

const beyondTop = { ...errorCodes.badRequest, message: "the offset is beyond the newest one" };
const noPosition: StreamPosition = { offset: 0, epoch: "" };

/**
 * Lists what users have read of a channel, and counts those who have read up to an offset (rule CU35).
 *
 * @param lists whether the answer has a list, also if no mark is wanted; a client only counts (rule CU40)
 */
function markList(
  table: MarkTable,
  { cursor, limit, offset }: MarksQuery,
  top: StreamPosition,
  lists: boolean,
): PartOutcome {
  const found = limit === 0 ? [] : table.page(cursor, top.epoch, limit + 1);
  const page = found.slice(0, limit);
  const last = table.lastLooked(cursor);
  const next = found.length > limit ? page.at(-1)?.user : last;
  const marks = page.map(({ user, read, atMs }) => ({ user, read, at_ms: atMs }));
  const count = offset === undefined ? undefined : table.countRead(cursor, top.epoch, offset);
  const fields = (out: FieldWriter): void => {
    if (lists) out.json(1, "marks", trustedJsonText(JSON.stringify(marks)));
    out.unsigned(2, "count", count, "always");
    out.flag(3, "capped", count !== undefined && last !== undefined);
    out.text(4, "epoch", top.epoch, "always");
    out.unsigned(5, "offset", top.offset, "always");
    out.text(6, "cursor", next);
  };
  return { outcome: "result", fields };
}
