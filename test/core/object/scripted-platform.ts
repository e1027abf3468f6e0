import type { Platform, PlatformSocket, PlatformSockets } from "../../../src/object/platform.ts";
import { NodeSql } from "../../../package/test/node-sql.ts";

/** A database that counts nothing. */
class UncountedSql extends NodeSql {
  readonly rowsWritten = 0;
}

/** The platform of one object whose time passes, and whose calls are answered, when a test says so. */
export class ScriptedPlatform implements Platform {
  readonly name: string;
  readonly sql = new UncountedSql();
  readonly open: PlatformSocket[] = [];
  readonly sockets: PlatformSockets = {
    all: () => this.open,
    tagsOf: () => [],
    answeredAtMs: () => undefined,
    setAnswering: () => undefined,
  };
  readonly verifier: Platform["verifier"] = {
    connection: () => unexpected("a token"),
    subscription: () => unexpected("a token"),
    tracks: () => unexpected("a signature"),
    signed: () => unexpected("a signature"),
  };
  /** The alarm that is set, ms since 1970. */
  alarmAtMs = Number.POSITIVE_INFINITY;
  /** Answers the calls under way, in their order. */
  readonly answers: (() => void)[] = [];
  #nowMs = 1_000_000_000_000;
  #timers: { readonly dueMs: number; readonly work: () => void }[] = [];
  #made = 0;

  constructor(name: string) {
    this.name = name;
  }

  nowMs(): number {
    return this.#nowMs;
  }

  after(waitMs: number, work: () => void): { cancel(): void } {
    const timer = { dueMs: this.#nowMs + waitMs, work };
    this.#timers.push(timer);
    return { cancel: () => (this.#timers = this.#timers.filter((other) => other !== timer)) };
  }

  /** So much time passes, and what is due then is done in its order. */
  pass(waitMs: number): void {
    const endMs = this.#nowMs + waitMs;
    for (;;) {
      const [next] = this.#timers.toSorted((one, other) => one.dueMs - other.dueMs);
      if (next === undefined || next.dueMs > endMs) break;
      this.#timers = this.#timers.filter((other) => other !== next);
      this.#nowMs = next.dueMs;
      next.work();
    }
    this.#nowMs = endMs;
  }

  guard(work: () => void): void {
    work();
  }

  sync(done: (isDurable: boolean) => void): void {
    this.after(0, () => done(true));
  }

  deleteAll(done: () => void): void {
    done();
  }

  storedBytes(): number {
    return 0;
  }

  readAlarm(done: (atMs: number) => void): void {
    done(this.alarmAtMs);
  }

  readAlarmFirst(done: (atMs: number) => void): void {
    done(this.alarmAtMs);
  }

  setAlarm(atMs: number): void {
    this.alarmAtMs = atMs;
  }

  /** No object answers, but for {@link answers}: it is told nothing but that the call is over. */
  readonly call: Platform["call"] = (_name, _to, _request, waitMs, done) => {
    const late = this.after(waitMs, () => done({ outcome: "failed", overloaded: false }));
    this.answers.push(() => {
      late.cancel();
      done({ outcome: "failed", overloaded: false });
    });
  };

  askBackend(): void {
    unexpected("a question to a backend");
  }

  sendEvents(): void {
    unexpected("an event");
  }

  newClient(): string {
    this.#made++;
    return `client${this.#made}`;
  }

  newEpoch(): string {
    return "epoch";
  }

  span(_name: string, _traced: object, work: (over: () => void) => void): void {
    work(() => undefined);
  }

  log(level: string, line: string): void {
    unexpected(`${level}: ${line}`);
  }

  noteRefusal(): void {
    // Nobody reads the log.
  }

  abandon(reason: string): void {
    unexpected(reason);
  }
}

function unexpected(what: string): never {
  throw new Error(`the test didn't expect ${what}`);
}
