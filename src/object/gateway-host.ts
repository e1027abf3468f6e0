import type { GatheredPresence } from "../channel/presence.ts";
import type { Config } from "../config/config.ts";
import { Gateway } from "../gateway/gateway.ts";
import type { GatewayPorts } from "../gateway/gateway-setup.ts";
import { type ErrorCode, errorCodes } from "../protocol/codes.ts";
import type { RelayBatch, RelayBatchReply } from "../contract/relay-batch.ts";
import type { ChannelsQuery, GatewayChannels, GatewayInfo } from "../contract/listing.ts";
import type { GatewayPresence, RelayReplies } from "../contract/relay-request.ts";
import { Session } from "../session/session.ts";
import { version } from "../version.ts";
import { NextTimer } from "./alarm-schedule.ts";
import { limits } from "../limits.ts";
import { parseGatewayName, gatewayNode } from "../contract/object-names.ts";
import { SessionRows } from "./session-rows.ts";
import { ClientSockets } from "./client-sockets.ts";
import { answerOf, type CallReply } from "./object-call.ts";
import { amendsPublications, gatewayParts, objectParts, keyedStreamOf } from "../features/index.ts";
import type { ObjectBounds, ObjectPart, PartedGateway } from "./part.ts";
import { ObjectHost, partsOfSetup } from "./object-host.ts";
import type { Platform } from "./platform.ts";

/**
 * A gateway's object: holds sockets with many channels each, and passes on to them the entries that the channels'
 * objects deliver. All of its state can be restored: the state of a channel from the channel's object, and the state of
 * a client from the attachment of its socket, or from a row (rule G2).
 */
export class GatewayHost extends ObjectHost implements PartedGateway {
  readonly #gateway: Gateway;
  override readonly sockets: ClientSockets;
  override readonly node: string;
  protected override readonly parts: readonly ObjectPart[];
  override readonly kind = "gateway";
  /** Whether a part may have something due after each event. */
  readonly #partsAreDue: boolean;
  readonly #settleTimer = new NextTimer(this.platform, (nowMs) => this.settle(nowMs));
  /**
   * The answers to the objects of channels that wait with their next batch until a frame has been sent so far (rules F6
   * and F8).
   */
  readonly #awaitedRooms = new Map<string, (() => void)[]>();

  /**
   * @param bounds   of what is done in one turn
   */
  constructor(platform: Platform, config: Config, bounds: ObjectBounds = limits) {
    super(platform, config);
    // Once the alarm is known, it is set in the commit in which an event is written, so a crash can't come between them.
    if (config.events !== undefined) platform.readAlarmFirst(this.alarms.known);
    const { name } = platform;
    this.node = gatewayNode(name);
    const ofGateway = gatewayParts(this);
    this.parts = [...objectParts(this), ...ofGateway];
    this.#partsAreDue = this.parts.some((part) => "dueAtMs" in part);
    const served = parseGatewayName(name);
    const only = served.kind === "channel" ? served.channel : undefined;
    const gateway = new Gateway({
      config,
      ports: this.#ports(name),
      fanOut: bounds,
      ...(only === undefined ? {} : { only }),
      ...partsOfSetup(this.parts, (part) => part.ofGateway),
      parts: ofGateway,
      keyedStreamOf,
      amends: amendsPublications,
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
      serverSubscriptions: sessions.serverSubscriptions,
      ...(only === undefined ? {} : { channel: only }),
      nearlyFull: () => gateway.nearlyFull,
      rows: new SessionRows(platform.sql),
      ...(sessions.dialect && { dialect: sessions.dialect }),
      newSession: (snapshot, connection) => new Session(snapshot, connection, sessions),
    });
  }

  #ports(gateway: string): GatewayPorts {
    const { platform, called, later, endEvent } = this;
    const { objectAnswerMs } = limits;
    return {
      call: (channel, requests, done) => {
        called();
        const carries = this.parts.some((part) => part.carries === true);
        const request = [gateway, requests, carries] as const;
        platform.call("ask", channel, request, objectAnswerMs, (reply) => {
          const replies = repliesOf(reply);
          if (replies?.outcome === "answers" && replies.counted !== undefined)
            for (const part of this.parts) part.carry?.(replies.counted);
          done(replies);
          endEvent(platform.nowMs());
        });
      },
      presence: (channel, done) => {
        called();
        platform.call("present", channel, [], objectAnswerMs, (reply) => {
          done(presenceOf(reply));
          endEvent(platform.nowMs());
        });
      },
      later,
    };
  }

  /** For the parts. */
  get gateway(): Gateway {
    return this.#gateway;
  }

  // The calls' contract is in src/contract/object-calls.ts.
  deliver(batch: RelayBatch, done: (reply: RelayBatchReply) => void): void {
    this.happened("batch");
    for (const part of this.parts) part.calledByChannel?.();
    const nowMs = this.platform.nowMs();
    if (this.backlog.overloaded()) {
      done({ outcome: "busy" });
      return;
    }
    const reply = this.#gateway.receive(batch, nowMs);
    this.settle(nowMs);
    // Passing the batch on may have closed connections, and their ends may be events for a backend.
    if (this.#partsAreDue || this.sockets.mayBeLate(nowMs)) this.schedule(nowMs);
    else this.endParts(nowMs);
    const { channel } = batch;
    if (!this.#gateway.full(channel)) {
      done(reply);
      return;
    }
    const awaited = this.#awaitedRooms.get(channel) ?? [];
    this.#awaitedRooms.set(channel, awaited);
    awaited.push(() => done(reply));
  }

  present(channel: string, shown?: boolean): GatewayPresence {
    this.happened("presence");
    const nowMs = this.platform.nowMs();
    this.sockets.sweep(nowMs, true);
    this.endEvent(nowMs);
    return this.#gateway.present(channel, shown);
  }

  info(): GatewayInfo {
    this.happened("directory");
    const nowMs = this.platform.nowMs();
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
      name: this.platform.name,
      version,
      clients,
      users: users.size,
      channels: this.#gateway.channelCount,
      subscriptions,
      uptimeSeconds: Math.floor((nowMs - this.awakeSinceMs) / 1_000),
      left: this.stillListed(),
    };
    this.endEvent(nowMs);
    return info;
  }

  channels(query: ChannelsQuery, done: (channels: GatewayChannels) => void): void {
    this.happened("directory");
    const nowMs = this.platform.nowMs();
    this.sockets.sweep(nowMs, true);
    this.endEvent(nowMs);
    const listing = this.#gateway.channels(query);
    const listSlice = (): void => {
      const channels = listing.next(limits.listedSliceChannels);
      if (channels === undefined) this.later(0, listSlice);
      else done({ channels, left: this.stillListed() });
    };
    listSlice();
  }

  /** Starts to send what the followers collected, and continues the calls that waited for that. */
  protected override settle(nowMs: number): void {
    this.#settleTimer.set(this.#gateway.settle(nowMs), nowMs);
    let isSending = false;
    for (const part of this.parts) {
      part.settle?.(nowMs);
      isSending ||= part.sending === true;
    }
    const { sending } = this.#gateway;
    if (sending !== undefined || isSending) this.sendInTurns(sending?.collecting === true);
    for (const [channel, answers] of this.#awaitedRooms) {
      if (this.#gateway.full(channel)) continue;
      this.#awaitedRooms.delete(channel);
      for (const answer of answers) answer();
    }
  }

  override channelCount(): number {
    return this.#gateway.channelCount;
  }

  protected override sendSlice(): void {
    this.#gateway.sendSlice();
    for (const part of this.parts) part.sendSlice?.();
  }

  protected override onAlarm(nowMs: number, done: () => void): void {
    const connected = new Set(this.sockets.clients.map(({ session }) => session.client));
    for (const part of this.parts) part.keepOnly?.(connected);
    this.settle(nowMs);
    done();
  }

  /** Never: on a gateway, only sockets have something due. */
  protected override dueAtMs(): number {
    return Number.POSITIVE_INFINITY;
  }
}

/** Undefined if it is unknown whether the channel's object has carried the requests out. */
function repliesOf(reply: CallReply<"ask">): RelayReplies | undefined {
  const isOverloaded = reply.outcome === "failed" && reply.overloaded;
  return isOverloaded ? { outcome: "overloaded", retryAfterSeconds: 1 } : answerOf(reply);
}

function presenceOf(reply: CallReply<"present">): GatheredPresence | { readonly error: ErrorCode } {
  if (reply.outcome === "answered")
    return reply.answer.outcome === "present" ? reply.answer : { error: reply.answer.error };
  return { error: reply.overloaded ? errorCodes.tooManyRequests : errorCodes.internal };
}
