import { KnownDeltas } from "../../src/delta/delta-chain.ts";
import type { ConnectionClaims } from "../../src/access/claims.ts";
import type { GatheredPresence } from "../../src/channel/presence.ts";
import { Gateway } from "../../src/gateway/gateway.ts";
import { limits } from "../../src/limits.ts";
import { type ErrorCode, errorCodes } from "../../src/protocol/codes.ts";
import type { RelayBatch, RelayBatchReply } from "../../src/contract/relay-batch.ts";
import type {
  RelayReplies,
  GatewayPresence,
  ChannelPresenceReply,
  RelayRequest,
} from "../../src/contract/relay-request.ts";
import { Life, NextTimer } from "./life.ts";
import { ObjectSockets, type SocketMemory } from "./object-sockets.ts";
import type { Answering, GatewayCalls, Setting } from "./setting.ts";
import type { ClientEnd, Socket } from "./socket.ts";
import type { Timer } from "./timeline.ts";

/** What is lost with a crash. */
interface Memory extends SocketMemory {
  readonly life: Life;
  readonly gateway: Gateway;
  readonly settleTimer: NextTimer;
}

/**
 * A gateway's object: sockets with what they carry, which last, and a memory that doesn't. It drives the core as the real
 * one does.
 */
export class GatewayHost implements GatewayCalls {
  readonly name: string;
  readonly #setting: Setting;
  readonly #sockets: ObjectSockets;
  #memory: Memory | undefined;
  #alarm: Timer | undefined;
  #alarmAtMs = Number.POSITIVE_INFINITY;
  #upAtMs = 0;
  /** How far the clock of the machine that it runs on is off, ms. */
  skewMs = 0;

  constructor(name: string, setting: Setting) {
    this.name = name;
    this.#setting = setting;
    this.#sockets = new ObjectSockets(setting, this);
  }

  /** Its own time, ms since 1970. */
  get nowMs(): number {
    return this.#setting.timeline.nowMs + this.skewMs;
  }

  /** How many channels somebody here wants. */
  get channelCount(): number {
    return this.#awake().gateway.channelCount;
  }

  deliver(batch: RelayBatch, answer: Answering<RelayBatchReply>): void {
    this.reach(({ gateway }) => {
      const taken = gateway.take(batch, this.nowMs);
      this.#settle();
      answer(taken);
    });
  }

  present(channel: string, answer: Answering<GatewayPresence>): void {
    this.reach(({ gateway }) => answer(gateway.present(channel)));
  }

  /** A client comes. `claims` are those of the token that it will connect with. */
  open(client: ClientEnd, claims: ConnectionClaims): Socket {
    return this.#sockets.open(client, claims);
  }

  /** The memory goes, if nothing is under way. */
  evict(): void {
    if (this.#memory?.life.idle !== true) return;
    this.#memory.life.end();
    this.#memory = undefined;
  }

  /** The memory goes in the middle of whatever is under way, and the sockets with it. */
  crash(): void {
    this.#memory?.life.end();
    this.#memory = undefined;
    this.#sockets.die();
    this.#upAtMs = this.#setting.timeline.nowMs + downMs;
  }

  /** All its sockets go, and the object lives on. */
  close(): void {
    this.#sockets.break();
  }

  /** Its clock jumps. */
  turnClock(byMs: number): void {
    this.skewMs += byMs;
  }

  reach(work: (memory: Memory) => void): void {
    const { timeline } = this.#setting;
    if (timeline.nowMs < this.#upAtMs) {
      timeline.after(this.#upAtMs - timeline.nowMs, () => this.reach(work));
    } else work(this.#awake());
  }

  /** What it stores no client ever waits for. */
  gate(work: () => void): void {
    work();
  }

  /** Publications go elsewhere, so nothing has to wait for a commit. */
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
    this.#alarm = this.#setting.timeline.after(Math.max(dueMs - this.nowMs, wakeMs), () => {
      this.reach((woken) => this.#rang(woken));
    });
  }

  #awake(): Memory {
    if (this.#memory !== undefined) return this.#memory;
    const { config, timeline } = this.#setting;
    const life = new Life(timeline);
    const ports = {
      call: (
        channel: string,
        questions: readonly RelayRequest[],
        answered: (answers: RelayReplies | undefined) => void,
      ) => this.#ask(life, channel, questions, answered),
      presence: (
        channel: string,
        answered: (answer: GatheredPresence | { readonly error: ErrorCode }) => void,
      ) => this.#askPresence(life, channel, answered),
    };
    const gateway = new Gateway({ config, ports });
    const memory: Memory = {
      life,
      gateway,
      sessions: new Map(),
      turns: new Map(),
      context: {
        config,
        channels: gateway,
        knownDeltas: new KnownDeltas(),
        version: "test",
        node: `gateway:${this.name}`,
        serverSubscriptions: true,
        storesRows: true,
      },
      settleTimer: new NextTimer(life, () => this.#settle()),
    };
    this.#memory = memory;
    this.#sockets.restore(memory);
    return memory;
  }

  #ask(
    life: Life,
    channel: string,
    questions: readonly RelayRequest[],
    answered: (answers: RelayReplies | undefined) => void,
  ): void {
    this.#setting.network.call<readonly RelayRequest[], RelayReplies>({
      kind: "ask",
      from: this.name,
      to: channel,
      request: questions,
      life,
      waitMs: limits.objectAnswerMs,
      carryOut: (asked, answer) => this.#setting.channel(channel).ask(this.name, asked, answer),
      answered: (answers) => {
        answered(answers);
        this.acted();
      },
    });
  }

  #askPresence(
    life: Life,
    channel: string,
    answered: (answer: GatheredPresence | { readonly error: ErrorCode }) => void,
  ): void {
    this.#setting.network.call<string, ChannelPresenceReply>({
      kind: "presence",
      from: this.name,
      to: channel,
      request: channel,
      life,
      waitMs: limits.objectAnswerMs,
      carryOut: (name, answer) => this.#setting.channel(name).present(answer),
      answered: (answer) => {
        answered(answer?.outcome === "present" ? answer : { error: errorCodes.internal });
        this.acted();
      },
    });
  }

  #rang(memory: Memory): void {
    this.#alarmAtMs = Number.POSITIVE_INFINITY;
    this.#sockets.tick(memory);
    this.acted();
  }

  #settle(): void {
    const memory = this.#memory;
    if (memory !== undefined) memory.settleTimer.set(memory.gateway.settle(this.nowMs));
  }
}

/** How long a crashed object is gone. */
const downMs = 20;
/** How long it takes to be called by an alarm that is due. */
const wakeMs = 100;
