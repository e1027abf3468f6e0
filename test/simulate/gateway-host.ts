import type { ConnectionClaims } from "../../src/access/claims.ts";
import type { GatheredPresence } from "../../src/channel/presence.ts";
import { Gateway } from "../../src/gateway/gateway.ts";
import { limits } from "../../src/limits.ts";
import { type ErrorCode, errorCodes } from "../../src/protocol/codes.ts";
import { jsonCodec } from "../../src/protocol/json-codec.ts";
import type { Batch, BatchAnswer } from "../../src/relay/batch.ts";
import type {
  Answers,
  GatewayPresence,
  PresenceAnswers,
  Question,
} from "../../src/relay/question.ts";
import { Session } from "../../src/session/session.ts";
import { Life, NextTimer } from "./life.ts";
import type { Answering, GatewayCalls, Setting } from "./setting.ts";
import { type ClientEnd, Socket } from "./socket.ts";
import type { Timer } from "./timeline.ts";

/** What is lost with a crash. */
interface Memory {
  readonly life: Life;
  readonly gateway: Gateway;
  readonly sessions: Map<Socket, Session>;
  readonly settleTimer: NextTimer;
}

/** A gateway's object: sockets with what they carry, which last, and a memory that doesn't. It drives the core as the real one does. */
export class GatewayHost implements GatewayCalls {
  readonly name: string;
  readonly #setting: Setting;
  readonly #sockets = new Set<Socket>();
  readonly #claims = new Map<Socket, ConnectionClaims>();
  readonly #rows = new Map<string, string>();
  #memory: Memory | undefined;
  #opened = 0;
  #alarm: Timer | undefined;
  #alarmAtMs = Number.POSITIVE_INFINITY;
  #upAtMs = 0;

  constructor(name: string, setting: Setting) {
    this.name = name;
    this.#setting = setting;
  }

  /** How many channels somebody here wants. */
  get channelCount(): number {
    return this.#awake().gateway.channelCount;
  }

  deliver(batch: Batch, answer: Answering<BatchAnswer>): void {
    this.#reach(({ gateway }) => {
      const taken = gateway.take(batch, this.#nowMs);
      this.#settle();
      answer(taken);
    });
  }

  present(channel: string, answer: Answering<GatewayPresence>): void {
    this.#reach(({ gateway }) => answer(gateway.present(channel)));
  }

  /** A client comes. `claims` are those of the token that it will connect with. */
  open(client: ClientEnd, claims: ConnectionClaims): Socket {
    const { timeline, latencyMs } = this.#setting;
    const id = `${this.name}/${++this.#opened}`;
    const openedAtMs = this.#nowMs;
    const fresh = { phase: "new", client: id, openedAtMs, keepalive: "client" } as const;
    const snapshot = { ...fresh, subscriptions: [] };
    const socket = new Socket(snapshot, this, client, this.#rows, timeline, latencyMs);
    this.#claims.set(socket, claims);
    this.#reach((memory) => {
      this.#sockets.add(socket);
      this.#add(memory, socket);
    });
    return socket;
  }

  message(socket: Socket, frame: string): void {
    this.#reach(({ sessions }) => {
      const claims = this.#claims.get(socket);
      for (const command of jsonCodec.decodeFrame(frame).commands) {
        const verdicts =
          command.method === "connect" && claims !== undefined
            ? { connection: { outcome: "verified", claims } as const }
            : {};
        sessions.get(socket)?.receive(command, verdicts, this.#nowMs);
      }
      this.#acted();
    });
  }

  ended(socket: Socket): void {
    if (!this.#sockets.delete(socket)) return;
    this.#reach((memory) => {
      // An object that this close woke was not given the socket any more.
      if (!memory.sessions.has(socket)) this.#add(memory, socket);
      const session = memory.sessions.get(socket);
      memory.sessions.delete(socket);
      session?.ended();
      this.#acted();
    });
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
    for (const socket of this.#sockets) socket.die();
    this.#sockets.clear();
    this.#upAtMs = this.#setting.timeline.nowMs + downMs;
  }

  /** All its sockets go, and the object lives on. */
  close(): void {
    for (const socket of this.#sockets) socket.break();
  }

  get #nowMs(): number {
    return this.#setting.timeline.nowMs;
  }

  #reach(work: (memory: Memory) => void): void {
    if (this.#nowMs < this.#upAtMs) {
      this.#setting.timeline.after(this.#upAtMs - this.#nowMs, () => this.#reach(work));
    } else work(this.#awake());
  }

  #awake(): Memory {
    if (this.#memory !== undefined) return this.#memory;
    const { config, timeline } = this.#setting;
    const life = new Life(timeline);
    const ports = {
      call: (
        channel: string,
        questions: readonly Question[],
        answered: (answers: Answers | undefined) => void,
      ) => this.#ask(life, channel, questions, answered),
      presence: (
        channel: string,
        answered: (answer: GatheredPresence | { readonly error: ErrorCode }) => void,
      ) => this.#askPresence(life, channel, answered),
    };
    const memory: Memory = {
      life,
      gateway: new Gateway({ config, codec: jsonCodec, ports }),
      sessions: new Map(),
      settleTimer: new NextTimer(life, () => this.#settle()),
    };
    this.#memory = memory;
    for (const socket of this.#sockets) this.#add(memory, socket);
    return memory;
  }

  #add({ sessions, gateway }: Memory, socket: Socket): void {
    if (sessions.has(socket)) return;
    const { config } = this.#setting;
    const session = new Session(socket.saved, socket, {
      config,
      channels: gateway,
      codec: jsonCodec,
      version: "test",
      serverSubscriptions: true,
      storesRows: true,
    });
    sessions.set(socket, session);
  }

  #ask(
    life: Life,
    channel: string,
    questions: readonly Question[],
    answered: (answers: Answers | undefined) => void,
  ): void {
    this.#setting.network.call<readonly Question[], Answers>({
      kind: "ask",
      from: this.name,
      to: channel,
      request: questions,
      life,
      gateMs: 0,
      waitMs: limits.objectAnswerMs,
      carryOut: (asked, answer) => this.#setting.channel(channel).ask(this.name, asked, answer),
      answered: (answers) => {
        answered(answers);
        this.#acted();
      },
    });
  }

  #askPresence(
    life: Life,
    channel: string,
    answered: (answer: GatheredPresence | { readonly error: ErrorCode }) => void,
  ): void {
    this.#setting.network.call<string, PresenceAnswers>({
      kind: "presence",
      from: this.name,
      to: channel,
      request: channel,
      life,
      gateMs: 0,
      waitMs: limits.objectAnswerMs,
      carryOut: (name, answer) => this.#setting.channel(name).present(answer),
      answered: (answer) => {
        answered(answer?.outcome === "present" ? answer : { error: errorCodes.internal });
        this.#acted();
      },
    });
  }

  #acted(): void {
    this.#settle();
    let dueMs = Number.POSITIVE_INFINITY;
    for (const session of this.#memory?.sessions.values() ?? []) {
      dueMs = Math.min(dueMs, session.dueAtMs);
    }
    if (dueMs >= this.#alarmAtMs) return;
    this.#alarm?.cancel();
    this.#alarmAtMs = dueMs;
    this.#alarm = this.#setting.timeline.after(Math.max(dueMs - this.#nowMs, wakeMs), () => {
      this.#reach((memory) => this.#rang(memory));
    });
  }

  #rang({ sessions }: Memory): void {
    this.#alarmAtMs = Number.POSITIVE_INFINITY;
    for (const session of sessions.values()) session.tick(false, this.#nowMs);
    this.#acted();
  }

  #settle(): void {
    const memory = this.#memory;
    if (memory !== undefined) memory.settleTimer.set(memory.gateway.settle(this.#nowMs));
  }
}

/** How long a crashed object is gone. */
const downMs = 20;
/** How long it takes to be called by an alarm that is due. */
const wakeMs = 100;
