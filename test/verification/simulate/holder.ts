import type { CarriedOut, NumberedOrder, Registered } from "../../../src/contract/user-order.ts";
import { limits } from "../../../src/limits.ts";
import type { Session } from "../../../src/session/session.ts";
import { LocalUsers } from "../../../src/users/local-users.ts";
import type { Incarnation } from "./incarnation.ts";
import type { Done, WorldContext, WorldUsers } from "./world-context.ts";

/** The object whose users these are. */
export interface HolderHost {
  readonly name: string;
  readonly nowMs: number;
  reach(work: () => void): void;
  gate(work: () => void): void;
  acted(): void;
}

/** The real `LocalUsers` in the memory of one object, and the calls that it takes and makes. */
export class Holder {
  readonly users: LocalUsers;
  readonly #context: WorldContext;
  readonly #world: WorldUsers;
  readonly #node: string;
  readonly #host: HolderHost;
  readonly #incarnation: Incarnation;

  /** @param node the object's name among all objects */
  constructor(
    context: WorldContext,
    world: WorldUsers,
    node: string,
    host: HolderHost,
    incarnation: Incarnation,
  ) {
    this.#context = context;
    this.#world = world;
    this.#node = node;
    this.#host = host;
    this.#incarnation = incarnation;
    this.users = new LocalUsers((home, users, done) => this.#register(home, users, done));
  }

  /** Carries out a home's orders, and answers when the writes that they caused are durable. */
  carryOut(
    sessions: ReadonlyMap<unknown, Session>,
    user: string,
    orders: readonly NumberedOrder[],
    answer: Done<CarriedOut>,
  ): void {
    const done = this.#incarnation.busy(() => answer(undefined));
    const answered = (carriedOut: CarriedOut | undefined): void => {
      this.#host.acted();
      this.#host.gate(() => {
        if (this.#incarnation.over) return;
        done();
        if (carriedOut !== undefined && carriedOut.failed !== true)
          this.#world.rules.carriedOut(this.#host.name, user, orders);
        answer(carriedOut ?? { left: true, failed: true });
      });
    };
    this.users.carryOut(
      user,
      orders,
      () => sessions.values(),
      this.#host.nowMs,
      // The real object answers in a later turn.
      (carriedOut) =>
        this.#incarnation.after(0, () => this.#host.reach(() => answered(carriedOut))),
    );
    this.#host.acted();
  }

  /** As in the real object: a call that failed is repeated once, and both together take no longer than one may. */
  #register(
    home: string,
    users: readonly string[],
    done: (registered: Registered | undefined) => void,
  ): void {
    const { timeline, network } = this.#context;
    const endsAtMs = timeline.nowMs + limits.registerAnswerMs;
    const call = (attempt: 1 | 2): void => {
      network.call<readonly string[], Registered>({
        kind: "register",
        from: this.#host.name,
        to: `home ${home}`,
        request: users,
        incarnation: this.#incarnation,
        gate: (work) => this.#host.gate(work),
        waitMs: endsAtMs - timeline.nowMs,
        carryOut: (asked, answer) => this.#world.home(home).register(this.#node, asked, answer),
        answered: (registered) => {
          if (registered === undefined && attempt === 1 && timeline.nowMs < endsAtMs) call(2);
          else {
            this.#host.reach(() => {
              done(registered);
              this.#host.acted();
            });
          }
        },
      });
    };
    call(1);
  }
}
