import { setTimeout as pause } from "node:timers/promises";
import type { OrderEvent, OrderMethod } from "../checker/history-event.ts";
import type { Random } from "../../support/random.ts";
import { BackendLoad } from "./backend-load.ts";
import type { BackendAddress } from "./clients/backend-call.ts";
import { tokenName } from "./clients/endpoint.ts";
import { microseconds } from "./history/clock.ts";
import type { Recorder } from "./history/recorder.ts";
import type { ProvedUser } from "./scenario.ts";

/**
 * A backend that orders at random: it disconnects, blocks, unblocks, subscribes and unsubscribes users, and takes their
 * tokens back, one order after the other for each of them. An order of unknown outcome isn't repeated, except the end of a block.
 */
export class OrderLoad extends BackendLoad {
  readonly #users: readonly ProvedUser[];
  #orders = 0;

  constructor(
    backend: BackendAddress,
    users: readonly ProvedUser[],
    random: Random,
    recorder: Recorder,
  ) {
    super(backend, random, recorder);
    this.#users = users;
  }

  protected override loops(): readonly Promise<void>[] {
    return this.#users.map((user) => this.steadily(50, 900, () => this.#orderOnce(user)));
  }

  /** Gives no further order. Resolves when all are answered and nobody is blocked any more; rejects when one failed. */
  override async stop(): Promise<void> {
    await super.stop();
    await Promise.all(this.#users.map(({ name }) => this.#unblock(name)));
    this.throwFailures();
  }

  async #orderOnce({ name, subscribes, orderable }: ProvedUser): Promise<void> {
    const roll = this.random.next();
    if (roll < 0.3) await this.#order(name, "disconnect", {}, this.#code());
    else if (roll < 0.4) await this.#takeBack(name);
    else if (roll < 0.55)
      await this.#order(name, "subscribe", { channel: this.random.pick(orderable) });
    else if (roll < 0.85) {
      const channel = this.random.pick([...subscribes, ...orderable]);
      await this.#order(name, "unsubscribe", { channel });
    } else {
      await this.#order(name, "block_user", {});
      // Long enough for a client to try in vain.
      await this.wait(this.random.between(100, 1_500));
      await this.#unblock(name);
    }
  }

  /** Takes back some of the user's tokens, for a while, or all of before. */
  async #takeBack(user: string): Promise<void> {
    const nowSeconds = Math.floor(Date.now() / 1_000);
    if (this.random.chance(0.5)) {
      await this.#order(user, "invalidate_user_tokens", { issuedBefore: nowSeconds });
      return;
    }
    const token = tokenName(user, this.random);
    await this.#order(user, "revoke_token", { token, barredFor: revokedSeconds - 1 });
  }

  /** Mostly a code after which SDKs reconnect. */
  #code(): object {
    const code = this.random.chance(0.8) ? 4_000 : 4_500;
    return this.random.chance(0.2) ? {} : { disconnect: { code, reason: "ordered" } };
  }

  /** Ends a block for certain: a user whom nobody unblocks stays away for ever. */
  async #unblock(user: string): Promise<void> {
    for (let attempt = 0; attempt < attemptsMax; attempt++) {
      if ((await this.#order(user, "unblock_user", {})) === "ok") return;
      await pause(attempt * 100);
    }
    this.failures.push(`${user} couldn't be unblocked`);
  }

  /** Gives one order, and records it with its outcome. */
  async #order(
    user: string,
    method: OrderMethod,
    about: Pick<OrderEvent, "channel" | "token" | "issuedBefore" | "barredFor">,
    more: object = {},
  ): Promise<"ok" | "fail" | "info"> {
    const order = `order-${++this.#orders}`;
    const what = { process: "users", f: "order", order, user, method, ...about } as const;
    this.recorder.record({ ...what, type: "invoke", time: microseconds() });
    const called = await this.calls.call(method, commandOf(what, more));
    const type = outcomes[called.outcome];
    if (called.outcome === "wrong") this.failures.push(`${method} of ${user}: ${called.problem}`);
    this.recorder.record({ ...what, type, time: microseconds() });
    return type;
  }
}

/** The API's command for an order. */
function commandOf({ method, user, channel, token, issuedBefore }: Order, more: object): object {
  switch (method) {
    case "revoke_token":
      return { uid: token, expire_at: Math.floor(Date.now() / 1_000) + revokedSeconds };
    case "invalidate_user_tokens":
      return { user, issued_before: issuedBefore };
    case "disconnect":
    case "block_user":
    case "unblock_user":
    case "subscribe":
    case "unsubscribe":
      return { user, ...(channel === undefined ? {} : { channel }), ...more };
  }
}

type Order = Omit<OrderEvent, "process" | "time" | "type" | "f" | "order">;

/** How long a token stays revoked, at most; it may be a second less. */
const revokedSeconds = 3;

/** The type of the event that tells the outcome of a call. An order of unknown outcome may be carried out later. */
const outcomes = { result: "ok", refused: "fail", lost: "info", wrong: "fail" } as const;

/** A server that doesn't come back for so long fails the run. */
const attemptsMax = 60;
