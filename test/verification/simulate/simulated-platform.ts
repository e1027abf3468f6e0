import { plannedFailure } from "../bank/bank.ts";
import type { CallName, CallReply, CallRequest } from "../../../src/object/object-call.ts";
import type {
  Platform,
  PlatformSockets,
  Timer,
  TracedPublication,
  Verifier,
} from "../../../src/object/platform.ts";
import type { BackendQuestion, BackendReply } from "../../../src/contract/backend-call.ts";
import type { Alarm } from "./alarm.ts";
import type { Incarnation } from "./incarnation.ts";
import { callOf } from "./object-network.ts";
import type { Storage } from "./storage.ts";
import { verifier } from "./verifier.ts";
import type { WorldContext } from "./world-context.ts";

/** The object that lives on the platform. */
export interface PlatformObject {
  readonly name: string;
  /** Its name among those of its kind. */
  readonly ownName: string;
  readonly nowMs: number;
  readonly alarm: Alarm;
  readonly database: Storage;
  readonly sockets: PlatformSockets;
  guard(work: () => void): void;
  /** Whether the platform fails to set the alarm this time. */
  failsAlarm(): boolean;
  crash(): void;
  newClient(): string;
  newEpoch(): string;
}

/** The platform of one incarnation of an object: what it asks for ends with the memory. */
export class SimulatedPlatform implements Platform {
  readonly name: string;
  readonly sql: Platform["sql"];
  readonly sockets: PlatformSockets;
  readonly verifier: Verifier = verifier;
  readonly #object: PlatformObject;
  readonly #incarnation: Incarnation;
  readonly #context: WorldContext;
  readonly #turnMs: () => number;
  readonly #alarmReadMs: () => number;

  constructor(object: PlatformObject, incarnation: Incarnation, context: WorldContext) {
    this.name = object.ownName;
    this.sql = object.database;
    this.sockets = object.sockets;
    this.#object = object;
    this.#incarnation = incarnation;
    this.#context = context;
    this.#turnMs = context.turns(object.name);
    this.#alarmReadMs = context.alarmReads(object.name);
  }

  nowMs(): number {
    return this.#object.nowMs;
  }

  after(waitMs: number, work: () => void): Timer {
    return this.#incarnation.after(waitMs === 0 ? this.#turnMs() : waitMs, () => this.guard(work));
  }

  guard(work: () => void): void {
    this.#object.guard(work);
  }

  sync(done: (isDurable: boolean) => void): void {
    const over = this.#incarnation.busy();
    // Also where nothing was written, it takes a turn.
    this.#context.timeline.after(0, () => {
      if (this.#incarnation.over) return;
      this.#object.database.gate(() => {
        over();
        if (!this.#incarnation.over) this.guard(() => done(true));
      });
    });
  }

  deleteAll(done: () => void): void {
    this.#object.database.deleteAll();
    this.sync(done);
  }

  storedBytes(): number {
    return 0;
  }

  /** The time may be from before the answer: the alarm may ring, or be set, meanwhile. */
  readAlarm(done: (atMs: number) => void): void {
    const over = this.#incarnation.busy();
    const { timeline } = this.#context;
    timeline.after(this.#alarmReadMs(), () => {
      const alarmAtMs = this.#alarmAtMs;
      timeline.after(this.#alarmReadMs(), () => {
        over();
        if (!this.#incarnation.over) this.guard(() => done(alarmAtMs));
      });
    });
  }

  /** Nothing happens to the object meanwhile, so no time passes for it. */
  readAlarmFirst(done: (atMs: number) => void): void {
    done(this.#alarmAtMs);
  }

  get #alarmAtMs(): number {
    return this.#object.alarm.time?.dueMs ?? Number.POSITIVE_INFINITY;
  }

  /** An alarm that isn't set stays as it was, and the object is told in an event of its own. */
  setAlarm(atMs: number, failed: () => void): void {
    if (this.#object.failsAlarm()) {
      this.#incarnation.after(this.#turnMs(), failed);
      return;
    }
    this.#object.database.write();
    this.#object.alarm.set(atMs, this.nowMs());
  }

  readonly call = <Name extends CallName>(
    name: Name,
    to: string,
    request: CallRequest<Name>,
    waitMs: number,
    done: (reply: CallReply<Name>) => void,
  ): void => {
    const failed = { outcome: "failed", overloaded: false } as const;
    const { kind, target, carryOut } = callOf(this.#context, name, to, request);
    this.#context.network.call({
      kind,
      from: this.#object.name,
      to: target,
      request,
      incarnation: this.#incarnation,
      gate: (work) => this.#object.database.gate(work),
      waitMs,
      carryOut,
      answered: (answer) =>
        this.guard(() => done(answer === undefined ? failed : { outcome: "answered", ...answer })),
    });
  };

  askBackend(
    question: BackendQuestion,
    _timeoutMs: number,
    done: (reply: BackendReply) => void,
  ): void {
    const { polls } = this.#context;
    polls.ask(this.#object.name, question.body, this.#incarnation, (result) =>
      this.guard(() =>
        done(
          result === undefined
            ? { outcome: "failed", reason: "it didn't answer" }
            : { outcome: "answered", status: 200, body: `{"result":${result}}` },
        ),
      ),
    );
  }

  sendEvents(body: string, done: (isTaken: boolean) => void): void {
    const { timeline, unseen } = this.#context;
    timeline.after(receivingMs, () => {
      const isTaken = unseen.take(body);
      if (!this.#incarnation.over) this.guard(() => done(isTaken));
    });
  }

  newClient(): string {
    return this.#object.newClient();
  }

  newEpoch(): string {
    return this.#object.newEpoch();
  }

  span(
    _name: "publish" | "commit",
    _traced: TracedPublication,
    work: (over: () => void) => void,
  ): void {
    work(() => undefined);
  }

  /** A backend may fail. All other lines speak of a bug, unless the storage has failed. */
  log(level: "warn" | "error", line: string): void {
    const isExpected = level === "warn" && !line.includes("can't be used");
    if (isExpected || line.includes(plannedFailure) || this.#object.database.broken) return;
    this.#context.publicationLog.complain(`${this.#object.name} logged: ${line}`);
  }

  noteRefusal(): void {
    // Refusals are part of many plans.
  }

  abandon(): void {
    this.#context.timeline.after(0, () => {
      if (!this.#incarnation.over) this.#object.crash();
    });
  }
}

/** How long the receiver of events takes, ms. */
const receivingMs = 20;
