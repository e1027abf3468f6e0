import { BatchTrail } from "../../src/gateway/batch-trail.ts";
import { Gateway } from "../../src/gateway/gateway.ts";
import { subscribersHere, toldByGateway } from "../../src/gateway/told-by-gateway.ts";
import type { GatewayCalls } from "../../src/contract/object-calls.ts";
import type { PollBatch, PollBatchReply } from "../../src/contract/poll-batch.ts";
import type { RelayBatch, RelayBatchReply } from "../../src/contract/relay-batch.ts";
import type { ChannelsQuery, GatewayChannels, GatewayInfo } from "../../src/contract/listing.ts";
import type {
  GatewayPresence,
  RelayReplies,
  RelayRequest,
} from "../../src/contract/relay-request.ts";
import { Session } from "../../src/session/session.ts";
import { version } from "../../src/version.ts";
import { NextTimer } from "../platform/alarm-schedule.ts";
import { descriptorsOf } from "../platform/descriptors.ts";
import type { Env } from "../platform/env.ts";
import { limits } from "../../src/limits.ts";
import { parseGatewayName, gatewayNode } from "../../src/contract/object-names.ts";
import { SessionRows } from "../platform/session-rows.ts";
import { ObjectTrackRows } from "../platform/track-rows.ts";
import { ask, askPresence } from "./calls.ts";
import { ClientSockets } from "./client-sockets.ts";
import type { EventDelivery } from "./event-delivery.ts";
import { HibernatingObject } from "./hibernating-object.ts";
import { type KindTold, ObjectTrail } from "./object-trail.ts";

/**
 * A gateway's object: holds sockets with many channels each, and passes on to them the entries that the channels'
 * objects deliver. All of its state can be restored: the state of a channel from the channel's object, and the state of
 * a client from the attachment of its socket, or from a row (rule G2).
 */
export class GatewayObject extends HibernatingObject implements GatewayCalls {
  readonly #gateway: Gateway;
  protected override readonly sockets: ClientSockets;
  protected override readonly node: string;
  protected override readonly remembered = new ObjectTrail(limits.trailGatewayFramesMax);
  readonly #batches = new BatchTrail(this.remembered.clock);
  #openedTrackRows: ObjectTrackRows | undefined;
  readonly #trackRows = (): ObjectTrackRows =>
    (this.#openedTrackRows ??= new ObjectTrackRows(this.sql));
  protected override readonly kind = "gateway";
  protected override readonly events: EventDelivery | undefined;
  readonly #settleTimer = new NextTimer(() => this.settle(Date.now()));
  /** The channels whose objects wait with their next batch until a frame has been sent so far (rules F6 and F8). */
  readonly #awaitedRooms = new Map<string, PromiseWithResolvers<void>>();

  constructor(context: DurableObjectState, env: Env) {
    super(context, env);
    const { config, verifier } = this;
    const name = context.id.name ?? "";
    this.node = gatewayNode(name);
    this.events = this.deliveryOf(this.node);
    const served = parseGatewayName(name);
    const counts = this.metrics?.counts;
    const only = served.kind === "channel" ? served.channel : undefined;
    const gateway = new Gateway({
      config,
      startedAtMs: Date.now(),
      ports: {
        call: (channel, requests, done) => {
          this.callsMade++;
          void this.#continue(this.#ask(channel, name, requests), (replies) => {
            if (replies?.outcome === "answers" && replies.counted !== undefined)
              this.metrics?.carry(replies.counted);
            done(replies);
          });
        },
        presence: (channel, done) => {
          this.callsMade++;
          void this.#continue(askPresence(env.CHANNELS, channel), done);
        },
        later: this.later,
      },
      ...(only === undefined ? {} : { only }),
      trail: {
        batches: this.#batches,
        frames: this.remembered.frames,
        clients: this.remembered.clients,
      },
      ...(counts !== undefined && { counts }),
      trackRows: this.#trackRows,
    });
    this.#gateway = gateway;
    const sessions = {
      ...this.ofSessions(),
      channels: gateway,
      ...(only === undefined ? {} : { channel: only }),
      serverSubscriptions: served.kind === "pool",
      storesRows: true,
    };
    this.sockets = new ClientSockets({
      ...this.ofSockets(),
      context,
      config,
      verifier,
      serverSubscriptions: sessions.serverSubscriptions,
      ...(only === undefined ? {} : { channel: only }),
      nearlyFull: () => gateway.nearlyFull,
      rows: new SessionRows(this.sql),
      newSession: (snapshot, connection) => new Session(snapshot, connection, sessions),
      later: this.later,
    });
  }

  // The calls' contract is in src/contract/object-calls.ts.
  async deliver(batch: RelayBatch): Promise<RelayBatchReply> {
    this.happened("batch");
    this.metrics?.calledByChannel();
    const nowMs = Date.now();
    if (this.backlog.overloaded()) return { outcome: "busy" };
    const reply = this.#gateway.take(batch, nowMs);
    this.settle(nowMs);
    // Passing it on may have closed connections, of which a backend is told.
    if (this.events !== undefined || this.sockets.mayBeLate(nowMs)) await this.schedule(nowMs);
    else this.metrics?.check(nowMs);
    if (this.#gateway.full(batch.channel)) await this.#room(batch.channel);
    return reply;
  }

  async polled(batch: PollBatch): Promise<PollBatchReply> {
    this.happened("batch");
    const nowMs = Date.now();
    const { polls } = this.#gateway;
    if (this.backlog.overloaded() || polls?.full === true) return { outcome: "busy" };
    const reply = polls?.take(batch, nowMs) ?? { outcome: "left" };
    await this.endEvent(nowMs);
    return reply;
  }

  async present(channel: string, shown?: boolean): Promise<GatewayPresence> {
    this.happened("presence");
    const nowMs = Date.now();
    this.sockets.sweep(nowMs, true);
    await this.endEvent(nowMs);
    return this.#gateway.present(channel, shown);
  }

  async info(): Promise<GatewayInfo> {
    this.happened("directory");
    const nowMs = Date.now();
    this.sockets.sweep(nowMs, true);
    const users = new Set<string>();
    let [clients, subscriptions] = [0, 0];
    for (const session of this.sockets.sessions()) {
      if (!session.hasConnected) continue;
      clients++;
      users.add(session.user);
      subscriptions += session.subscriptions.size;
    }
    const info = {
      name: this.ctx.id.name ?? "",
      version,
      clients,
      users: users.size,
      channels: this.#gateway.channelCount,
      subscriptions,
      uptimeSeconds: Math.floor((nowMs - this.awakeSinceMs) / 1_000),
      left: this.stillListed(),
    };
    await this.endEvent(nowMs);
    return info;
  }

  async channels(query: ChannelsQuery): Promise<GatewayChannels> {
    this.happened("directory");
    const nowMs = Date.now();
    this.sockets.sweep(nowMs, true);
    await this.endEvent(nowMs);
    const listing = this.#gateway.channels(query);
    for (;;) {
      const channels = listing.next(limits.listedSliceChannels);
      if (channels !== undefined) return { channels, left: this.stillListed() };
      await new Promise<void>((resolve) => this.later(0, resolve));
    }
  }

  /** Resolves once the channel's frames have been sent so far that more may be collected. */
  #room(channel: string): Promise<void> {
    const awaited = this.#awaitedRooms.get(channel) ?? Promise.withResolvers();
    this.#awaitedRooms.set(channel, awaited);
    return awaited.promise;
  }

  /** Calls a channel's object, which may wake it, unless the server has too few file descriptors left (rule B10). */
  async #ask(
    channel: string,
    gateway: string,
    requests: readonly RelayRequest[],
  ): Promise<RelayReplies | undefined> {
    const carries = this.metrics?.carries === true;
    const call = () => ask(this.env.CHANNELS, channel, gateway, requests, carries);
    const descriptors = descriptorsOf(this.env);
    if (descriptors === undefined) return call();
    if (!(await descriptors.haveRoom("call")))
      return { outcome: "overloaded", retryAfterSeconds: 1 };
    try {
      return await call();
    } finally {
      descriptors.ended();
    }
  }

  /** Continues with the reply to a call, and sends what that caused. */
  async #continue<Reply>(reply: Promise<Reply>, done: (reply: Reply) => void): Promise<void> {
    done(await reply);
    await this.endEvent(Date.now());
  }

  /** Starts to send what the followers collected, and continues the calls that waited for that. */
  protected override readonly settle = (nowMs: number): void => {
    this.#settleTimer.set(this.#gateway.settle(nowMs), nowMs);
    const { polls } = this.#gateway;
    polls?.save();
    const { sending } = this.#gateway;
    if (sending !== undefined || polls?.sending === true)
      this.sendInTurns(sending?.collecting === true);
    for (const [channel, { resolve }] of this.#awaitedRooms) {
      if (this.#gateway.full(channel)) continue;
      this.#awaitedRooms.delete(channel);
      resolve();
    }
  };

  protected override readonly told: KindTold = {
    trail: (query) => toldByGateway(this.#gateway, this.#batches, query),
    state: ({ channel }) => {
      const { channelCount: channels, heldBytes } = this.#gateway;
      const gateway = { channels, heldBytes };
      return channel === undefined
        ? { gateway }
        : { gateway, subscribers: subscribersHere(this.#gateway, channel, this.sockets.clients) };
    },
  };
  /** The channel's own object says it. */
  protected override readonly isOccupied = (): boolean => false;

  protected override readonly sendSlice = (): void => {
    this.#gateway.sendSlice();
    this.#gateway.polls?.sendSlice();
  };

  protected override readonly onAlarm = async (nowMs: number): Promise<void> => {
    this.#trackRows().keepOnly(new Set(this.sockets.clients.map(({ session }) => session.client)));
    this.settle(nowMs);
  };

  /** Never: on a gateway, only sockets have something due. */
  protected override readonly dueAtMs = (): number => Number.POSITIVE_INFINITY;
}
