import { hasPassed } from "../moment.ts";
import type { HookTarget } from "../config/config.ts";
import { fitsAttachment } from "../contract/attachment.ts";
import type { SubscriptionSnapshot } from "../contract/session-snapshot.ts";
import type { HookAnswer } from "../hooks/hooks.ts";
import { type Life, parseRefreshResult } from "../hooks/response.ts";
import { limits } from "../limits.ts";
import { disconnectCodes, unsubscribeCodes } from "../protocol/codes.ts";
import { tokenEndSeconds } from "../users/local-tokens.ts";
import { askHook, reasonOf } from "./hook.ts";
import { ttlSeconds } from "./liveness.ts";
import type { CommandSession } from "./ports.ts";

/**
 * Extends the life of a connection and of its subscriptions in the client's place, by asking backends when they expire
 * (rule Q9). A backend that can't be asked extends it, too, for a while.
 */
export class ServerRefresh {
  readonly #session: CommandSession;
  /** The channels whose subscription is being refreshed, and "" for the connection. */
  readonly #underWay = new Set<string>();

  constructor(session: CommandSession) {
    this.#session = session;
  }

  /** Whether a backend is asked about a subscription, or for "" about the connection. */
  isUnderWay(channel: string): boolean {
    return this.#underWay.has(channel);
  }

  /** Asks about the connection. The caller sees to it that none is under way. */
  connection(target: HookTarget, nowMs: number): void {
    this.#ask("", target, { hook: "refresh" }, nowMs, (outcome, answeredMs) => {
      // As in Centrifugo, a result that names no new end leaves the old one, which has passed.
      if (outcome === "ended" || outcome.expireAtSeconds === 0)
        this.#session.disconnect(disconnectCodes.connectionExpired);
      else this.#prolong(outcome, answeredMs);
    });
  }

  /** The home of a token that can be revoked has to know it for as long as the connection may last now (rule U33). */
  #prolong(life: Life, nowMs: number): void {
    const session = this.#session;
    const { identity, context } = session;
    const uid = identity.claims?.uid;
    if (uid === undefined || context.users === undefined) {
      this.#extendConnection(life, nowMs);
      return;
    }
    this.#underWay.add("");
    const endSeconds = tokenEndSeconds(life.expireAtSeconds, context.config.client);
    context.users.tokens.check(uid, endSeconds, (state) => {
      this.#underWay.delete("");
      if (session.closed) return;
      if (state === "valid") this.#extendConnection(life, nowMs);
      else if (state === "revoked") session.disconnect(disconnectCodes.invalidToken);
      // The client comes back, as after a connect about which the home doesn't answer (rule U4).
      else session.disconnect(disconnectCodes.internalServerError);
    });
  }

  /** Asks about a subscription; see {@link connection}. */
  subscription({ channel }: SubscriptionSnapshot, target: HookTarget, nowMs: number): void {
    const subject = { hook: "sub_refresh", channel } as const;
    this.#ask(channel, target, subject, nowMs, (outcome) => {
      const session = this.#session;
      const current = session.subscriptions.get(channel);
      // It may have ended meanwhile, or be another one.
      if (current === undefined || current.granted.serverRefresh !== true) return;
      if (outcome === "ended") session.unsubscribe(channel, unsubscribeCodes.subscriptionExpired);
      else this.#extendSubscription(current.granted, outcome);
    });
  }

  #ask(
    channel: string,
    target: HookTarget,
    subject:
      | { readonly hook: "refresh" }
      | { readonly hook: "sub_refresh"; readonly channel: string },
    nowMs: number,
    done: (outcome: Life | "ended", nowMs: number) => void,
  ): void {
    this.#underWay.add(channel);
    askHook(this.#session, target, subject, nowMs, (answer, answeredMs) => {
      this.#underWay.delete(channel);
      if (answer.outcome === "disconnect") this.#session.disconnect(answer.code);
      else done(this.#lifeOf(answer, target, answeredMs), answeredMs);
    });
  }

  /** The new life of what was asked about: if the backend can't say, a while longer. */
  #lifeOf(
    answer: Exclude<HookAnswer, { readonly outcome: "disconnect" }>,
    target: HookTarget,
    nowMs: number,
  ): Life | "ended" {
    if (answer.outcome !== "result") return this.#extended(reasonOf(answer, target), nowMs);
    const read = parseRefreshResult(answer.result);
    switch (read.outcome) {
      case "expired":
        return "ended";
      case "invalid":
        return this.#extended(`${target.name}: the result can't be used: ${read.reason}`, nowMs);
      case "read":
        return hasPassed(read.life.expireAtSeconds, nowMs) ? "ended" : read.life;
    }
  }

  #extended(reason: string, nowMs: number): Life {
    const { context, user } = this.#session;
    context.refused?.({ refused: "refresh", rule: "Q9", reason, user });
    return { expireAtSeconds: Math.floor(nowMs / 1_000) + limits.hookExtensionSeconds };
  }

  #extendConnection({ expireAtSeconds, info, meta }: Life, nowMs: number): void {
    const session = this.#session;
    const before = session.identity.claims ?? { user: session.user, expireAtSeconds: 0 };
    const claims = {
      ...before,
      expireAtSeconds,
      ...(info === undefined ? {} : { info }),
      ...(meta === undefined ? {} : { meta }),
    };
    const { snapshots, all } = session.subscriptions;
    const fits = fitsAttachment(claims) && session.hasRoom(snapshots, claims);
    // There is no room for such an info, as there wouldn't be if a token brought it (rule B2); the life is extended.
    session.change({ claims: fits ? claims : { ...before, expireAtSeconds } });
    for (const subscription of all) subscription.updateInfo(session.identity);
    if (!session.unidirectional) return;
    const expiry = { ttlSeconds: ttlSeconds(expireAtSeconds, nowMs) };
    session.send(session.codec.encodePush({ type: "refresh", expiry }));
  }

  #extendSubscription(before: SubscriptionSnapshot, { expireAtSeconds, info }: Life): void {
    const session = this.#session;
    const subscription = session.subscriptions.get(before.channel);
    if (subscription === undefined) return;
    const extended = { ...before, expireAtSeconds };
    const shown = info === undefined ? extended : { ...extended, chanInfo: info };
    const others = session.subscriptions.snapshots.filter(
      ({ channel }) => channel !== before.channel,
    );
    const fits = session.hasRoom([...others, shown]);
    session.context.channels.catchUp(subscription);
    subscription.renew(fits ? shown : extended, session.identity);
  }
}
