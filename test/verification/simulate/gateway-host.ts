import { Backlog } from "../../../src/hub/backlog.ts";
import { NamedChannels } from "../../../src/session/named-channels.ts";
import { KnownDeltas } from "../../../src/delta/delta-chain.ts";
import { subscriptionTypes } from "../../../src/features/subscription-types.ts";
import type { ConnectionClaims } from "../../../src/access/claims.ts";
import { gatewayNode } from "../../../src/contract/object-names.ts";
import type { CarriedOut, NumberedOrder } from "../../../src/contract/user-order.ts";
import type { GatheredPresence } from "../../../src/channel/presence.ts";
import { Gateway } from "../../../src/gateway/gateway.ts";
import { limits } from "../../../src/limits.ts";
import { type ErrorCode, errorCodes } from "../../../src/protocol/codes.ts";
import type { RelayBatch, RelayBatchReply } from "../../../src/contract/relay-batch.ts";
import type {
  RelayReplies,
  GatewayPresence,
  ChannelPresenceReply,
  RelayRequest,
} from "../../../src/contract/relay-request.ts";
import type { PollBatch, PollBatchReply } from "../../../src/contract/poll-batch.ts";
import type { TrackRows } from "../../../src/features/shared-polls/gateway-tracking.ts";
import type { StoredTracks } from "../../../src/features/shared-polls/local-tracks.ts";
import { Holder } from "./holder.ts";
import { Incarnation, NextTimer, TurnTimer } from "./incarnation.ts";
import { ObjectSockets, type SocketMemory } from "./object-sockets.ts";
import { plainCopy } from "./plain-copy.ts";
import type { Done, GatewayCalls, WorldContext } from "./world-context.ts";
import type { ClientEnd, Socket } from "./socket.ts";
import type { Timer } from "./timeline.ts";

/** The state that a crash destroys. */
interface Memory extends SocketMemory {
  readonly incarnation: Incarnation;
  readonly gateway: Gateway;
  readonly settleTimer: NextTimer;
  readonly sendTimer: TurnTimer;
  /** Answers that wait until the frames of a channel have been sent so far that more may be collected (rule F6). */
  readonly waiting: { readonly channel: string; readonly answer: () => void }[];
}

/**
 * A simulated gateway: sockets with their attachments, which outlive its memory, and the memory. It drives the core as
 * the real object does.
 */
export class GatewayHost implements GatewayCalls {
  readonly name: string;
  readonly #context: WorldContext;
  readonly #sockets: ObjectSockets;
  readonly #turnMs: () => number;
  /** Outlives the memory. */
  readonly #trackRows = new StoredTrackRows();
  #memory: Memory | undefined;
  #alarm: Timer | undefined;
  #alarmAtMs = Number.POSITIVE_INFINITY;
  #upAtMs = 0;
  /** The error of the clock of the object's machine, ms. */
  skewMs = 0;

  constructor(name: string, context: WorldContext) {
    this.name = name;
    this.#context = context;
    this.#turnMs = context.turns(name);
    this.#sockets = new ObjectSockets(context, this);
  }

  /** The time by the object's clock, ms since 1970. */
  get nowMs(): number {
    return this.#context.timeline.nowMs + this.skewMs;
  }

  /** How many channels have subscribers here. */
  get channelCount(): number {
    return this.#awake().gateway.channelCount;
  }

  deliver(batch: RelayBatch, answer: Done<RelayBatchReply>): void {
    this.reach(({ gateway, waiting }) => {
      const taken = gateway.take(batch, this.nowMs);
      this.#settle();
      if (gateway.full(batch.channel)) {
        waiting.push({ channel: batch.channel, answer: () => answer(taken) });
      } else answer(taken);
    });
  }

  polled(batch: PollBatch, answer: Done<PollBatchReply>): void {
    this.reach(({ gateway }) => {
      const reply = gateway.polls?.take(batch, this.nowMs) ?? { outcome: "left" };
      this.#settle();
      answer(reply);
    });
  }

  present(channel: string, shown: boolean, answer: Done<GatewayPresence>): void {
    this.reach(({ gateway }) => answer(gateway.present(channel, shown)));
  }

  carryOut(user: string, orders: readonly NumberedOrder[], answer: Done<CarriedOut>): void {
    this.reach(({ holder, sessions }) => holder?.carryOut(sessions, user, orders, answer));
  }

  /** A client connects. `claims` are those of the token that the client will connect with. */
  open(client: ClientEnd, claims: ConnectionClaims): Socket {
    return this.#sockets.open(client, claims);
  }

  /** The memory is discarded, if nothing is in progress. */
  evict(): void {
    if (this.#memory?.incarnation.idle !== true) return;
    this.#memory.incarnation.end();
    this.#memory = undefined;
  }

  /** The memory and the sockets are lost in the middle of all work. */
  crash(): void {
    this.#memory?.incarnation.end();
    this.#memory = undefined;
    this.#sockets.die();
    this.#upAtMs = this.#context.timeline.nowMs + downMs;
  }

  /** All sockets close; the object lives on. */
  close(): void {
    this.#sockets.break();
  }

  /** The object's clock jumps. */
  turnClock(byMs: number): void {
    this.skewMs += byMs;
  }

  reach(work: (memory: Memory) => void): void {
    const { timeline } = this.#context;
    if (timeline.nowMs < this.#upAtMs) {
      timeline.after(this.#upAtMs - timeline.nowMs, () => this.reach(work));
    } else work(this.#awake());
  }

  /** No client waits for the gateway's storage. */
  gate(work: () => void): void {
    work();
  }

  /** Publications go to channel objects, so nothing waits for a commit. */
  commit(_: SocketMemory, carryOut: () => void, after: () => void): void {
    carryOut();
    after();
  }

  acted(): void {
    this.#settle();
    const memory = this.#memory;
    const dueMs = memory === undefined ? Number.POSITIVE_INFINITY : this.#sockets.dueAtMs(memory);
    if (dueMs >= this.#alarmAtMs) return;
    this.#alarm?.cancel();
    this.#alarmAtMs = dueMs;
    this.#alarm = this.#context.timeline.after(Math.max(dueMs - this.nowMs, wakeMs), () => {
      this.reach((woken) => this.#runAlarm(woken));
    });
  }

  #awake(): Memory {
    if (this.#memory !== undefined) return this.#memory;
    const { config, timeline, fanOut, users } = this.#context;
    const incarnation = new Incarnation(timeline);
    const node = gatewayNode(this.name);
    const holder = users && new Holder(this.#context, users, node, this, incarnation);
    const ports = {
      call: (
        channel: string,
        requests: readonly RelayRequest[],
        answered: (answers: RelayReplies | undefined) => void,
      ) => this.#ask(incarnation, channel, requests, answered),
      presence: (
        channel: string,
        answered: (answer: GatheredPresence | { readonly error: ErrorCode }) => void,
      ) => this.#askPresence(incarnation, channel, answered),
      later: (waitMs: number, work: () => void) => {
        incarnation.after(waitMs === 0 ? this.#turnMs() : waitMs, () => {
          work();
          this.acted();
        });
      },
    };
    const trackRows = (): TrackRows => this.#trackRows;
    const startedAtMs = this.nowMs;
    const fan = fanOut(this.name);
    const gateway = new Gateway({ config, ports, fanOut: fan, startedAtMs, trackRows });
    const memory: Memory = {
      incarnation,
      gateway,
      sessions: new Map(),
      turns: new Map(),
      context: {
        config,
        channels: gateway,
        backlog: new Backlog({ sockets: () => [], nowMs: () => 0 }),
        subscriptionTypes,
        knownDeltas: new KnownDeltas(),
        namedChannels: new NamedChannels(1_000),
        version: "test",
        node,
        serverSubscriptions: true,
        storesRows: true,
        ...(holder === undefined ? {} : { users: holder.users }),
      },
      ...(holder === undefined ? {} : { holder }),
      settleTimer: new NextTimer(incarnation, () => this.#settle()),
      sendTimer: new TurnTimer(incarnation, this.#turnMs, () => {
        gateway.sendSlice();
        gateway.polls?.sendSlice();
        this.#settle();
      }),
      waiting: [],
    };
    this.#memory = memory;
    this.#sockets.restore(memory);
    return memory;
  }

  #ask(
    incarnation: Incarnation,
    channel: string,
    requests: readonly RelayRequest[],
    answered: (answers: RelayReplies | undefined) => void,
  ): void {
    this.#context.network.call<readonly RelayRequest[], RelayReplies>({
      kind: "ask",
      from: this.name,
      to: channel,
      request: requests,
      incarnation,
      waitMs: limits.objectAnswerMs,
      carryOut: (asked, answer) => this.#context.channel(channel).ask(this.name, asked, answer),
      answered: (answers) => {
        answered(answers);
        this.acted();
      },
    });
  }

  #askPresence(
    incarnation: Incarnation,
    channel: string,
    answered: (answer: GatheredPresence | { readonly error: ErrorCode }) => void,
  ): void {
    this.#context.network.call<string, ChannelPresenceReply>({
      kind: "presence",
      from: this.name,
      to: channel,
      request: channel,
      incarnation,
      waitMs: limits.objectAnswerMs,
      carryOut: (name, answer) => this.#context.channel(name).present(answer),
      answered: (answer) => {
        answered(answer?.outcome === "present" ? answer : { error: errorCodes.internal });
        this.acted();
      },
    });
  }

  #runAlarm(memory: Memory): void {
    this.#alarmAtMs = Number.POSITIVE_INFINITY;
    this.#sockets.tick(memory);
    this.acted();
  }

  #settle(): void {
    const memory = this.#memory;
    if (memory === undefined) return;
    const { gateway, settleTimer, sendTimer, waiting } = memory;
    settleTimer.set(gateway.settle(this.nowMs));
    gateway.polls?.save();
    if (gateway.sending !== undefined || gateway.polls?.sending === true) sendTimer.set();
    const answered = waiting.filter(({ channel }) => !gateway.full(channel));
    for (const one of answered) {
      waiting.splice(waiting.indexOf(one), 1);
      one.answer();
    }
  }
}

/** What connections track on shared polls, in rows that outlive the object's memory. */
class StoredTrackRows implements TrackRows {
  readonly #rows = new Map<string, StoredTracks>();

  find(client: string, channel: string): StoredTracks | undefined {
    return plainCopy(this.#rows.get(`${client} ${channel}`));
  }

  store(client: string, channel: string, tracks: StoredTracks | undefined): void {
    if (tracks === undefined) this.#rows.delete(`${client} ${channel}`);
    else this.#rows.set(`${client} ${channel}`, plainCopy(tracks));
  }
}

/** How long a crashed object is unavailable. */
const downMs = 20;
/** How long the platform takes to run a due alarm. */
const wakeMs = 100;
