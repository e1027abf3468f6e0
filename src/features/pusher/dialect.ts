import type {
  ConnectionClaims,
  SubscriptionOverride,
  SubscriptionVerdict,
} from "../../access/claims.ts";
import type { Config } from "../../config/config.ts";
import {
  errorFrame,
  isCacheMiss,
  pingFrame,
  pongFrame,
  PusherCodec,
  startOf,
  subscribedFrame,
} from "./codec.ts";
import type { Message } from "../../protocol/codec.ts";
import { type DisconnectCode, disconnectCodes } from "../../protocol/codes.ts";
import type { Command } from "../../protocol/command.ts";
import { type JsonText, parseJsonObject } from "../../protocol/json/text.ts";
import type { Verifier } from "../../object/platform.ts";
import type { Dialect, DialectSession, Verdicts } from "../../session/dialect/dialect.ts";
import { allowed, denied, type May } from "../../session/may.ts";
import type { Subscription } from "../../session/subscription.ts";
import { kindOf, nameIn, userOfChannel } from "./channel-names.ts";
import type { CatchUp } from "./catch-up.ts";
import { appOfKind, offsetsEnd, type PusherApp } from "./config.ts";
import { pusherLimits } from "./limits.ts";
import type { MemberLists } from "./member-lists.ts";
import { infoOf, memberInfo, presenceData } from "./presence-member.ts";
import { channelText, parseAuth } from "./signed-text.ts";
import { eventTag } from "./event-data.ts";
import { socketIdOf } from "./socket-id.ts";

/** The Pusher protocol on the sessions of one gateway (rules PU1 to PU9). The kind of a client is its application's ID. */
export class PusherDialect implements Dialect {
  readonly keepalive = { request: pingFrame, answer: pongFrame };
  readonly #setup: DialectSetup;
  readonly #codecs = new Map<string, PusherCodec>();

  constructor(setup: DialectSetup) {
    this.#setup = setup;
  }

  codecOf(kind: string): PusherCodec {
    const { config } = this.#setup;
    // A session whose application the configuration has no more ends with its next command.
    const app = appOfKind(config, kind) ?? { ...noApp, id: kind };
    const codec =
      this.#codecs.get(kind) ?? new PusherCodec(app, config.channel, kind.endsWith(offsetsEnd));
    this.#codecs.set(kind, codec);
    return codec;
  }

  verify(session: DialectSession, command: Command, done: (verified: Verdicts) => void): void {
    const app = appOfKind(this.#setup.config, session.identity.dialect);
    switch (command.method) {
      case "connect":
        if (app === undefined) done({ connection: unknownApp });
        else done({ connection: { outcome: "verified", claims: claimsOf(session, app) } });
        return;
      case "subscribe": {
        const { channel, token } = command.request;
        if (app === undefined) done({ subscription: unknownApp });
        else
          this.#verifyToken(session, app, channel, token, (subscription) => done({ subscription }));
        return;
      }
      case "publish": {
        const { channel, passing } = command.request;
        done({ mayPublish: this.#mayPublish(session, app, channel, passing?.[eventTag] ?? "") });
        return;
      }
      case "unsubscribe":
      case "presence":
      case "presence_stats":
      case "history":
      case "refresh":
      case "sub_refresh":
      case "rpc":
      case "send":
      case "ping":
      case "pong":
        // Most of them have no frame, and the others bring nothing that has to be verified.
        done({});
    }
  }

  closeOf(code: DisconnectCode): { readonly code: DisconnectCode; readonly message?: Message } {
    const own = closeCodeOf(code);
    return { code: own, message: errorFrame(own.code, own.reason) };
  }

  sendsLater(session: DialectSession, subscription: Subscription, reply: Message): boolean {
    const { config, members, catchUp } = this.#setup;
    const app = appOfKind(config, session.identity.dialect);
    const name = app === undefined ? "" : this.#nameOf(app, subscription.channel);
    const kind = kindOf(name);
    const isTold = app?.webhooks.some(({ eventTypes }) => eventTypes.has("cache_miss"));
    const isMissed = isTold === true && kind?.cache === true && isCacheMiss(reply);
    if (isMissed && session.identity.onlooker !== true) this.#setup.missed(subscription.channel);
    const from = sendsOffsets(session) ? startOf(reply) : undefined;
    if (kind?.access !== "presence" && from === undefined) return false;
    subscription.pause();
    if (kind?.access !== "presence") {
      session.send(reply);
      if (from !== undefined) catchUp.awaitSince(session, subscription, from);
      return true;
    }
    members.listFor(session, subscription, (list) => {
      const { channels } = session.context;
      // It may have ended meanwhile.
      if (session.subscriptions.get(subscription.channel) !== subscription) return;
      channels.catchUp(subscription);
      // From here on it gets those who come and go; the list has all before.
      subscription.renew({ ...subscription.granted, hearsJoinLeave: true }, session.identity);
      const [, ...rest] = String(reply).split("\n");
      session.send([subscribedFrame(name, presenceData(list)), ...rest].join("\n"));
      if (from === undefined) subscription.resume();
      else catchUp.awaitSince(session, subscription, from);
    });
    return true;
  }

  #nameOf(app: PusherApp, channel: string): string {
    return nameIn(app, channel, this.#setup.config.channel);
  }

  #verifyToken(
    session: DialectSession,
    app: PusherApp,
    channel: string,
    given: string,
    done: (verdict: SubscriptionVerdict) => void,
  ): void {
    const name = this.#nameOf(app, channel);
    const kind = kindOf(name);
    if (kind === undefined) {
      done(invalid("no channel has this name"));
      return;
    }
    const override = {
      ...quiet,
      ...(kind.cache && { forceRecovery: true }),
      ...(sendsOffsets(session) && { forcePositioning: true }),
    };
    const granted = (info?: JsonText): SubscriptionVerdict => {
      const isMember = kind.access === "presence" && session.identity.onlooker !== true;
      const terms = isMember ? { ...override, ...asMember } : override;
      const claims = { user: session.user, channel, client: "", expireAtSeconds: 0 };
      const shown = info === undefined ? {} : { info };
      return { outcome: "verified", claims: { ...claims, ...shown, override: terms } };
    };
    // An onlooker needs no signature to see what the application's server would let clients see, and is no member (rule N32).
    const onlooks = session.identity.onlooker === true;
    if (kind.access === "public" || (onlooks && kind.access !== "user")) done(granted());
    else if (kind.access === "user")
      done(userOfChannel(name) === session.user ? granted() : invalid("it is another user's"));
    else {
      const { auth, channel_data: data } = parseJsonObject(given)?.fields ?? {};
      const text = typeof data === "string" ? data : undefined;
      const info = kind.access === "presence" ? memberOf(session, text) : undefined;
      const signed = parseAuth(auth);
      if (signed?.key !== app.key)
        done(invalid("the auth is not the application's key and a signature"));
      else if (kind.access === "presence" && info === undefined)
        done(invalid("the channel_data names no user_id"));
      else {
        const right = channelText(socketIdOf(session.identity.client), name, text);
        this.#setup.verifier.signed(app.secret, right, signed.signature, (isSigned) =>
          done(isSigned ? granted(info) : invalid(`the signature doesn't match ${app.secret}`)),
        );
      }
    }
  }

  #mayPublish(
    { subscriptions }: DialectSession,
    app: PusherApp | undefined,
    channel: string,
    event: string,
  ): May {
    const kind = app && kindOf(this.#nameOf(app, channel));
    if (app?.enableClientMessages !== true) return refuse("enable_client_messages is off");
    if (kind === undefined || kind.encrypted || !["private", "presence"].includes(kind.access))
      return refuse("clients send events on private and presence channels only");
    if (event.length > pusherLimits.eventCharactersMax)
      return refuse("the event's name is too long");
    return subscriptions.get(channel)?.begun === true
      ? allowed
      : refuse("the client is not subscribed to the channel");
  }
}

/**
 * The code of the Pusher protocol with which a connection is closed. A client acts by its range: 4000 to 4099, it doesn't
 * come back; 4100 to 4199, it comes back after a while; 4200 to 4299, at once.
 */
export function closeCodeOf({ code, reason }: DisconnectCode): DisconnectCode {
  return { code: code >= 4000 ? code : ownCode(code), reason };
}

function ownCode(code: number): number {
  switch (code) {
    case disconnectCodes.connectionLimit.code:
      return 4004;
    case disconnectCodes.tooManyRequests.code:
    case disconnectCodes.messageSizeLimit.code:
    case disconnectCodes.internalServerError.code:
      return 4100;
    // The time for the sign-in is over.
    case disconnectCodes.connectionExpired.code:
      return 4009;
    case disconnectCodes.noPong.code:
      return 4201;
    case disconnectCodes.stale.code:
      return 4202;
    default:
      // Clients of the server's own protocol don't come back after these.
      return code >= 3500 ? 4009 : 4200;
  }
}

/** After so many ms without a message a client pings, as at pusher.com. */
export const activityMs = 120_000;

/** The parts of the object that the dialect needs. */
interface DialectSetup {
  readonly config: Config;
  readonly verifier: Pick<Verifier, "signed">;
  readonly members: MemberLists;
  readonly catchUp: CatchUp;
  /** Tells a cache channel's object that a subscriber has missed an event there. */
  readonly missed: (channel: string) => void;
}

/** The member that a client is on a presence channel: the one of the token, or the user who has signed in. */
function memberOf(session: DialectSession, data: string | undefined): JsonText | undefined {
  if (data !== undefined) return memberInfo(data);
  return session.user === "" ? undefined : infoOf(session.user, session.identity.claims?.info);
}

/** Whether the client is sent the offset of each event. */
function sendsOffsets({ identity }: DialectSession): boolean {
  return identity.dialect?.endsWith(offsetsEnd) === true;
}

/** The claims of a client that has just connected: where it has to sign in they end. */
function claimsOf({ identity }: DialectSession, { requireSignin }: PusherApp): ConnectionClaims {
  if (!requireSignin) return anonymous;
  const openedAtSeconds = Math.ceil(identity.openedAtMs / 1_000);
  return { ...anonymous, expireAtSeconds: openedAtSeconds + pusherLimits.signinSeconds };
}

/** The claims of a client that has not signed in, and need not. */
export const anonymous = { user: "", expireAtSeconds: 0 };

/** Members are listed, and announced; a new one gets the others' changes once it has the list. */
const asMember = { presence: true, joinLeave: true } as const;
/** Clients of other channels hear of nobody. */
const quiet: SubscriptionOverride = { forcePushJoinLeave: false };

function refuse(because: string): May {
  return denied("PU5", because);
}

function invalid(reason: string) {
  return { outcome: "invalid", reason } as const;
}

const unknownApp = {
  outcome: "invalid",
  reason: "pusher.apps doesn't have the application",
} as const;

const noApp: PusherApp = {
  id: "",
  key: "",
  secret: "",
  namespace: "",
  enableClientMessages: false,
  enableSubscriptionCount: false,
  enableWatchlistEvents: false,
  requireSignin: false,
  webhooks: [],
};
