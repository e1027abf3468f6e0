import type { Config } from "../../config/config.ts";
import { isJsonArray, type JsonValue } from "../../protocol/wire-value.ts";
import type { CommandSession } from "../../session/ports.ts";
import type { Subscription } from "../../session/subscription.ts";
import { subscribeByServer } from "../../users/session-orders.ts";
import { isUserId, watchChannelOf } from "./channel-names.ts";
import { watchFrame } from "./codec.ts";
import { appOfKind } from "./config.ts";
import { pusherLimits } from "./limits.ts";
import type { MemberLists } from "./member-lists.ts";
import { infoOf } from "./presence-member.ts";

/**
 * Tells users who have signed in which users of their watchlist come and go (rule PU18). Each user has a channel, on which the
 * user's connections are members; those who watch the user are subscribed to it, and aren't shown there.
 */
export class Watchlists {
  readonly #config: Config;
  readonly #members: Pick<MemberLists, "whenKnown" | "membersOf">;

  constructor(config: Config, members: Pick<MemberLists, "whenKnown" | "membersOf">) {
    this.#config = config;
    this.#members = members;
  }

  /** A user has signed in. @param given the watchlist that the application's server has signed */
  begin(session: CommandSession, given: JsonValue | undefined, nowMs: number): void {
    const app = appOfKind(this.#config, session.identity.dialect);
    if (app?.enableWatchlistEvents !== true) return;
    const { user } = session;
    const { channel: channels } = this.#config;
    const own = {
      channel: watchChannelOf(user, app, channels),
      info: infoOf(user, undefined),
      override: { presence: true, joinLeave: true, forcePushJoinLeave: false },
    };
    subscribeByServer(session, { subscription: own, expireAtSeconds: 0 }, nowMs, ignore);
    const watched = watchedUsers(given, user);
    if (watched.length === 0) return;
    const known = new Map<string, Subscription | undefined>();
    const heard = (one: string, subscription?: Subscription): void => {
      known.set(one, subscription);
      if (known.size === watched.length) this.#tell(session, known);
    };
    for (const one of watched) {
      const channel = watchChannelOf(one, app, channels);
      const override = { presence: false, joinLeave: false };
      const order = { subscription: { channel, override }, expireAtSeconds: 0 };
      subscribeByServer(session, order, nowMs, () => {
        const subscription = session.subscriptions.get(channel);
        if (subscription === undefined) heard(one);
        else this.#members.whenKnown(channel, () => heard(one, subscription));
      });
    }
  }

  /** Tells a user who of the watched is there. From here on the user gets those who come and go. */
  #tell(session: CommandSession, watched: ReadonlyMap<string, Subscription | undefined>): void {
    const online: string[] = [];
    const offline: string[] = [];
    for (const [user, subscription] of watched) {
      if (subscription === undefined) continue;
      const { channel } = subscription;
      // It may have ended meanwhile.
      if (session.closed || session.subscriptions.get(channel) !== subscription) continue;
      session.context.channels.catchUp(subscription);
      subscription.renew({ ...subscription.granted, hearsJoinLeave: true }, session.identity);
      const members = this.#members.membersOf(channel);
      if (members !== undefined) (members.size > 0 ? online : offline).push(user);
    }
    const frame = watchFrame({ online, offline });
    if (frame !== "") session.send(frame);
  }
}

/** The users whom a user watches, without the user. */
function watchedUsers(given: JsonValue | undefined, own: string): readonly string[] {
  const users = given !== undefined && isJsonArray(given) ? given : [];
  const texts = users.flatMap((one) => {
    const text = typeof one === "number" ? String(one) : one;
    return typeof text === "string" && isUserId(text) && text !== own ? [text] : [];
  });
  return [...new Set(texts)].slice(0, pusherLimits.watchlistMax);
}

function ignore(): void {
  // Without room for the subscription, the user isn't shown to others.
}
