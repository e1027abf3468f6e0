import type { CallName, CallReply, CallRequest } from "../../../src/object/object-call.ts";
import type { Platform, Timer, TracedPublication } from "../../../src/object/platform.ts";
import { verifier } from "../simulate/verifier.ts";
import { costsMs } from "./measured-costs.ts";
import type { StandObject } from "./stand-object.ts";

/** The platform of one memory of an object, in simulated time. */
export class StandPlatform implements Platform {
  readonly name: string;
  readonly sql: Platform["sql"];
  readonly sockets: Platform["sockets"];
  readonly verifier = verifier;
  readonly #object: StandObject;
  readonly #ownName: string;
  readonly #ring: () => void;
  readonly #life: number;

  /** @param ring the object's alarm rings */
  constructor(object: StandObject, ownName: string, ring: () => void) {
    this.name = ownName;
    this.sql = object;
    this.sockets = object.sockets;
    this.#object = object;
    this.#ownName = ownName;
    this.#ring = ring;
    this.#life = object.life;
  }

  /** As on the platform, the clock stands still during an event. */
  nowMs(): number {
    return this.#object.world.moments.nowMs;
  }

  after(waitMs: number, work: () => void): Timer {
    const { thread, world } = this.#object;
    const over = thread.hold();
    let isCancelled = false;
    const ring = (): void => {
      over();
      if (!isCancelled && this.#isAlive) this.#object.event(costsMs.turn, () => this.guard(work));
    };
    if (waitMs === 0) {
      // A turn comes after what waits already.
      over();
      this.#object.event(costsMs.turn, () => {
        if (!isCancelled) this.guard(work);
      });
    } else world.moments.at(this.nowMs() + waitMs, ring);
    return {
      cancel: () => {
        isCancelled = true;
        over();
      },
    };
  }

  guard(work: () => void): void {
    work();
  }

  sync(done: (isDurable: boolean) => void): void {
    const { thread, world } = this.#object;
    const over = thread.hold();
    world.moments.at(thread.leavesAtMs, () => {
      over();
      if (this.#isAlive) this.#object.event(costsMs.afterCommit, () => done(true));
    });
  }

  deleteAll(done: () => void): void {
    this.#object.deleteAll();
    this.sync(done);
  }

  storedBytes(): number {
    return 0;
  }

  readAlarm(done: (atMs: number) => void): void {
    this.#object.event(0, () => done(this.#object.alarmAtMs));
  }

  readAlarmFirst(done: (atMs: number) => void): void {
    done(this.#object.alarmAtMs);
  }

  setAlarm(atMs: number): void {
    this.#object.setAlarm(atMs, this.#ring);
  }

  readonly call = <Name extends CallName>(
    name: Name,
    to: string,
    request: CallRequest<Name>,
    waitMs: number,
    done: (reply: CallReply<Name>) => void,
  ): void => {
    const over = this.#object.thread.hold();
    this.#object.thread.spend(costsMs.callMade);
    this.#object.world.carry(this.#object, { name, to, request, waitMs }, (reply) => {
      over();
      if (this.#isAlive) this.#object.event(0, () => done(reply));
    });
  };

  askBackend(): void {
    throw new Error("no backend is asked on the stand");
  }

  sendEvents(): void {
    throw new Error("no events are sent on the stand");
  }

  newClient(): string {
    return this.#object.sockets.newClient();
  }

  newEpoch(): string {
    return `epoch-${this.#ownName}`;
  }

  span(
    _name: "publish" | "commit",
    _traced: TracedPublication,
    work: (over: () => void) => void,
  ): void {
    work(() => undefined);
  }

  log(level: "warn" | "error", line: string): void {
    this.#object.world.logged.push(`${level}: ${this.name}: ${line}`);
  }

  noteRefusal(): void {
    // The clients see it, too.
  }

  abandon(): void {
    throw new Error("no object on the stand gives up");
  }

  get #isAlive(): boolean {
    return this.#object.life === this.#life;
  }
}
