import type { Ordered, OrderTarget, UserOrder } from "../../../src/contract/user-order.ts";
import { tokenKey } from "../../../src/contract/identity-key.ts";
import { homeName } from "../../../src/contract/object-names.ts";
import { limits } from "../../../src/limits.ts";
import type { UserRules } from "./user-rules.ts";
import type { WorldContext, WorldUsers } from "./world-context.ts";

/** A backend that gives orders for users, each once: what it isn't told has been done, homes have to repeat. */
export class UserBackend {
  readonly #context: WorldContext;
  readonly #users: WorldUsers;
  #codes = 0;

  /** What the world promises about the orders. */
  get rules(): UserRules {
    return this.#users.rules;
  }

  constructor(context: WorldContext, users: WorldUsers) {
    this.#context = context;
    this.#users = users;
  }

  /**
   * Ends the user's connections, with a code that no other order has.
   *
   * @param returns whether the clients may reconnect by themselves
   */
  disconnect(user: string, target: OrderTarget, returns: boolean): void {
    const code = (returns ? 4_000 : 4_500) + (++this.#codes % 500);
    this.order(user, { method: "disconnect", code: { code, reason: "ordered" }, ...target });
  }

  /** Gives any order. */
  order(user: string, order: UserOrder): void {
    const { network } = this.#context;
    const { rules } = this.#users;
    const name = homeName(user);
    const given = rules.give(user, order);
    network.call<UserOrder, Ordered>({
      kind: "order",
      from: "backend",
      to: `home ${name}`,
      request: order,
      waitMs: limits.objectAnswerMs,
      carryOut: (sent, answer) =>
        this.#context.home(name).order(user, sent, () => rules.take(given), answer),
      answered: (ordered) => {
        if (ordered?.outcome === "done") rules.acknowledge(given);
      },
    });
  }

  /** Revokes a token, if there is one. */
  revoke(uid: string | undefined): void {
    if (uid !== undefined)
      this.order(tokenKey(uid), { method: "revoke_token", expireAtSeconds: 0 });
  }

  /** Makes all tokens of a user invalid that were issued until now. */
  invalidate(user: string): void {
    const issuedBeforeSeconds = Math.floor(this.#context.timeline.nowMs / 1_000);
    const order = { channel: "", issuedBeforeSeconds, expireAtSeconds: 0 };
    this.order(user, { method: "invalidate_user_tokens", ...order });
  }

  /** Blocks a user, for so many ms from now on or without an end. */
  block(user: string, forMs: number | undefined): void {
    const untilMs = forMs === undefined ? 0 : this.#context.timeline.nowMs + forMs;
    this.order(user, { method: "block_user", expireAtSeconds: Math.ceil(untilMs / 1_000) });
  }
}
