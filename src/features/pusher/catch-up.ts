import type { Config } from "../../config/config.ts";
import { errorCodes } from "../../protocol/codes.ts";
import type { RpcRequest } from "../../protocol/command.ts";
import { parsePayloadObject } from "../../protocol/payload.ts";
import type { StreamPosition } from "../../protocol/publication.ts";
import { refuseWith, silent } from "../../session/decision.ts";
import type { DialectSession } from "../../session/dialect/dialect.ts";
import type { RunningCommand } from "../../session/ports.ts";
import type { Subscription } from "../../session/subscription.ts";
import { channelOf, nameIn } from "./channel-names.ts";
import { positionFrame } from "./codec.ts";
import { appOfKind } from "./config.ts";
import { pusherLimits } from "./limits.ts";

/**
 * Catches clients up that are sent offsets (rule PU17). A new subscription is paused until its client has said up to where it
 * has the events: then it is sent those since, and goes on after them. So it gets each once, and in order.
 */
export class CatchUp {
  readonly #config: Config;
  /** The subscriptions that are paused, and where each begins. */
  readonly #paused = new Map<Subscription, StreamPosition>();

  constructor(config: Config) {
    this.#config = config;
  }

  /** A subscription that is paused begins at a position: its client is waited for, for a while at most. */
  awaitSince(session: DialectSession, subscription: Subscription, from: StreamPosition): void {
    this.#paused.set(subscription, from);
    session.context.later?.(pusherLimits.sinceWaitMs, () => this.#resume(subscription));
  }

  /** Sends a client what came since the position that it names, up to where its subscription began. */
  carryOut({ session, request, nowMs, done }: RunningCommand<RpcRequest>): void {
    const { channel: name = "", offset, epoch } = parsePayloadObject(request.data) ?? {};
    const app = appOfKind(this.#config, session.identity.dialect);
    const channel =
      app === undefined || typeof name !== "string"
        ? ""
        : channelOf(name, app, this.#config.channel);
    const subscription = session.subscriptions.get(channel);
    if (
      app === undefined ||
      subscription === undefined ||
      typeof offset !== "number" ||
      typeof epoch !== "string"
    ) {
      done(refuseWith(errorCodes.badRequest, "PU17", "no subscription or no position is named"));
      return;
    }
    const from = this.#paused.get(subscription);
    const lose = (position: StreamPosition): void => {
      session.send(positionFrame("lost", nameIn(app, channel, this.#config.channel), position));
      this.#resume(subscription);
      done(silent);
    };
    if (from === undefined) {
      lose(session.context.channels.position(channel) ?? { offset, epoch });
      return;
    }
    const missed = from.offset - offset;
    if (epoch === from.epoch && missed === 0) {
      this.#resume(subscription);
      done(silent);
      return;
    }
    const { historyMaxPublicationLimit: most, queueMaxSizeBytes } = this.#config.client;
    if (epoch !== from.epoch || missed < 0 || missed > most) {
      lose(from);
      return;
    }
    const query = { limit: missed, reverse: false, since: { offset, epoch } };
    const operation = {
      method: "history",
      request: query,
      bytesMax: queueMaxSizeBytes / 2,
    } as const;
    session.context.channels.request(channel, operation, subscription, nowMs, (reply) => {
      const publications = reply.outcome === "history" ? reply.publications : [];
      // They follow on each other, so that none is missing if the first and the last are there.
      if (publications.length !== missed || publications[0]?.offset !== offset + 1) {
        lose(from);
        return;
      }
      for (const publication of publications)
        session.send(session.codec.encodePush({ type: "publication", channel, publication }));
      this.#resume(subscription);
      done(silent);
    });
  }

  #resume(subscription: Subscription): void {
    if (this.#paused.delete(subscription)) subscription.resume();
  }
}
