import type { CursorOptions } from "../../../src/features/cursors/config.ts";
import type { MarkRequest, UserRequest } from "../../../src/features/cursors/calls.ts";
import { errorCodes } from "../../../src/protocol/codes.ts";
import { countsAsUnread } from "./cursor-kinds.ts";
import type { Model } from "./model.ts";
import type { ModelMark } from "./model-state.ts";
import { textOf } from "../../support/text-of.ts";

/** The reference model of a channel's marks (rules CU1 to CU8): the last mark of each user, and nothing else. */
export class CursorModel {
  readonly #channel: string;
  readonly #model: Model;
  readonly #options: CursorOptions;

  constructor(channel: string, model: Model, options: CursorOptions) {
    this.#channel = channel;
    this.#model = model;
    this.#options = options;
  }

  /** Whether the user has marked something, in whatever epoch. */
  hasMarked(user: string): boolean {
    return this.#marks.has(user);
  }

  /** Users become members of the audience, if they aren't (rule CU20). */
  enter(users: readonly string[]): void {
    const { epoch, offset: read } = this.#top;
    const members = new Map(this.#model.state.members);
    for (const user of users) if (!members.has(user)) members.set(user, { epoch, read });
    this.#model.state = { ...this.#model.state, members };
  }

  /** Users aren't members any more. */
  leave(users: readonly string[]): void {
    const members = new Map(this.#model.state.members);
    for (const user of users) members.delete(user);
    this.#model.state = { ...this.#model.state, members };
  }

  /** These users, and nobody else, are members. */
  setMembers(users: readonly string[]): void {
    const members = this.#model.state.members ?? none;
    this.leave([...members.keys()].filter((user) => !users.includes(user)));
    this.enter(users);
  }

  /** Nothing of a user is kept. */
  forget(user: string): void {
    this.leave([user]);
    const marks = new Map(this.#marks);
    marks.delete(user);
    this.#model.state = { ...this.#model.state, marks };
  }

  mark({ user, offset, epoch }: MarkRequest): CursorAnswer {
    const top = this.#top;
    if (epoch !== "" && epoch !== top.epoch)
      return { error: errorCodes.unrecoverablePosition.code };
    if (offset > top.offset) return { error: errorCodes.badRequest.code };
    const read = Math.max(this.#readIn(user, top.epoch) ?? 0, offset);
    const marks = new Map(this.#marks).set(user, { epoch: top.epoch, read });
    this.#model.state = { ...this.#model.state, marks };
    return { read, epoch: top.epoch };
  }

  unread({ user }: UserRequest, nowMs: number): CursorAnswer {
    const { epoch, offset: top } = this.#top;
    const { unreadFrom, unreadMax } = this.#options;
    const isReset = this.hasMarked(user) && this.#readIn(user, epoch) === undefined;
    const start = isReset || unreadFrom === "all" ? 0 : top;
    const read = this.#readIn(user, epoch) ?? start;
    const kept = this.#model.kept(nowMs);
    const lost = Math.max((kept[0]?.offset ?? top + 1) - 1 - read, 0);
    const counted = kept.filter(
      ({ offset, data, publisher }) =>
        offset > read && publisher !== user && countsAsUnread(this.#channel, textOf(data)),
    );
    const count = lost + counted.length;
    return {
      unread: Math.min(count, unreadMax),
      ...(count > unreadMax ? { capped: true } : {}),
      read,
      ...(isReset ? { reset: true } : {}),
      offset: top,
      epoch,
    };
  }

  get #marks(): ReadonlyMap<string, ModelMark> {
    return this.#model.state.marks ?? none;
  }

  #readIn(user: string, epoch: string): number | undefined {
    const mark = this.#marks.get(user);
    return mark?.epoch === epoch || mark?.read === 0 ? mark?.read : undefined;
  }

  get #top(): { readonly epoch: string; readonly offset: number } {
    const { epoch = "", top = 0 } = this.#model.state.stream ?? {};
    return { epoch, offset: top };
  }
}

/** The answer to a mark or a question, or the code of its error. */
export type CursorAnswer = Readonly<Record<string, number | string | boolean>>;

const none: ReadonlyMap<string, ModelMark> = new Map();
