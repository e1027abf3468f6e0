import type { ChannelPart, PartedChannel, PartOutcome } from "../../../channel/channel-part.ts";
import type { ChannelOperation } from "../../../contract/channel-call.ts";
import type { RelayEntry } from "../../../contract/relay-batch.ts";
import type { FieldWriter } from "../../../protocol/fields.ts";
import { trustedJsonText } from "../../../protocol/json/text.ts";
import type { StreamPosition } from "../../../protocol/publication.ts";
import type { AudienceQuery } from "../calls.ts";
import type { KeptUsers } from "../forgetting/kept-users.ts";
import { cursorLimits } from "../limits.ts";
import type { MemberTable } from "./member-table.ts";
import type { Notices } from "./unseen-judge.ts";
import type { SubscriptionPart } from "../../../session/channels.ts";

/** Keeps the audience of a channel: the users to whom its publications are addressed (rules CU20 to CU22). */
export class ChannelAudience implements ChannelPart {
  readonly #channel: Pick<PartedChannel, "topAt">;
  readonly #kept: KeptUsers;
  readonly #table: MemberTable;
  /** Undefined if a backend is told of nothing. */
  readonly notices: Notices | undefined;

  constructor(
    channel: Pick<PartedChannel, "topAt">,
    kept: KeptUsers,
    notices: Notices | undefined,
  ) {
    this.#channel = channel;
    this.#kept = kept;
    this.#table = kept.members;
    this.notices = notices;
  }

  carryOut(operation: ChannelOperation, nowMs: number): PartOutcome | undefined {
    const { method } = operation;
    if (method === "audience") return this.#page(operation.request);
    if (method === "add_audience") return this.#add(operation.request.users, nowMs);
    if (method === "set_audience") return this.#set(new Set(operation.request.users), nowMs);
    if (method !== "remove_audience") return undefined;
    for (const user of operation.request.users) this.remove(user);
    return this.#result;
  }

  /** Users have subscribed, or a token of a subscription has named them. Those for whom there is no room stay out. */
  announced(entry: RelayEntry, nowMs: number): void {
    if (entry.type !== "members") return;
    const top = this.#top(nowMs);
    for (const user of entry.users)
      if (this.#table.size < cursorLimits.membersMax) this.#enter(user, top, nowMs);
  }

  /** Ends a user's membership, if there is one. */
  remove(user: string): void {
    if (this.#table.find(user) !== undefined) this.#table.remove(user);
  }

  /** Either all users become members, or nobody does. */
  #add(users: readonly string[], nowMs: number): PartOutcome {
    const table = this.#table;
    const entering = users.filter((user) => table.find(user) === undefined);
    if (table.size + entering.length > cursorLimits.membersMax) return { outcome: "full" };
    const top = this.#top(nowMs);
    for (const user of entering) this.#enter(user, top, nowMs);
    return this.#result;
  }

  /** Those who are members already go on being so since then. */
  #set(users: ReadonlySet<string>, nowMs: number): PartOutcome {
    const table = this.#table;
    const staying = [...users].flatMap((user) => table.find(user) ?? []);
    if (table.size - staying.length > cursorLimits.audienceUsersMax) {
      table.clear();
      for (const member of staying) table.write(member, true, nowMs);
    } else if (table.size > staying.length) {
      // As many as are deleted at most, and those who stay.
      for (const { user } of table.page("", 2 * cursorLimits.audienceUsersMax))
        if (!users.has(user)) table.remove(user);
    }
    const top = this.#top(nowMs);
    for (const user of users) this.#enter(user, top, nowMs);
    return this.#result;
  }

  #enter(user: string, { epoch, offset }: StreamPosition, nowMs: number): void {
    if (this.#table.find(user) !== undefined) return;
    if (this.#table.size === 0) this.notices?.progress.begin(nowMs);
    this.#kept.enter({ user, epoch, since: offset, unseen: undefined }, nowMs);
  }

  #page({ cursor, limit }: AudienceQuery): PartOutcome {
    const page = this.#table.page(cursor, limit + 1);
    const users = page.slice(0, limit).map(({ user }) => user);
    const next = page.length > limit ? users.at(-1) : undefined;
    const fields = (out: FieldWriter): void => {
      out.json(1, "users", trustedJsonText(JSON.stringify(users)));
      out.text(2, "cursor", next);
      out.unsigned(3, "members", this.#table.size, "always");
    };
    return { outcome: "result", fields };
  }

  get #result(): PartOutcome {
    const { size } = this.#table;
    const fields = (out: FieldWriter): void => out.unsigned(1, "members", size, "always");
    return { outcome: "result", fields };
  }

  #top(nowMs: number): StreamPosition {
    return this.#channel.topAt(nowMs) ?? { offset: 0, epoch: "" };
  }
}

/**
 * Makes those members of a channel's audience who subscribe, where the namespace says so (rule CU22), and those whom a token
 * or a backend names with the subscription (rule CU29).
 */
export const membersOfSubscriptions: SubscriptionPart = {
  entryOfBegin: ({ info: { user }, granted: { members = [] } }, { cursors }) => {
    const { audience = "none" } = cursors ?? {};
    if (audience === "none") return undefined;
    const users = audience === "subscribed" && user !== "" ? [user, ...members] : members;
    return users.length === 0 ? undefined : { type: "members", users };
  },
};
