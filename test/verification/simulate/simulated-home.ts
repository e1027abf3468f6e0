import type { Ordered, UserOrder } from "../../../src/contract/user-order.ts";
import type { Platform, PlatformSockets } from "../../../src/object/platform.ts";
import { UsersHost } from "../../../src/object/users-host.ts";
import { hasTable } from "../../../src/sql.ts";
import { SimulatedObject } from "./simulated-object.ts";
import type { Done, WorldContext } from "./world-context.ts";

/** A home of users, or a shard of the directory. */
export class SimulatedHome extends SimulatedObject<UsersHost> {
  readonly ownName: string;
  /** For each batch of writes that isn't durable yet: whom to tell once it is, also if the object crashes just then. */
  #takings: (() => void)[][] = [];

  /** @param ownName as `homeName` or `shardOf` gives it */
  constructor(ownName: string, context: WorldContext) {
    super(`home ${ownName}`, context);
    this.ownName = ownName;
  }

  /** It holds none. */
  readonly sockets: PlatformSockets = {
    all: () => [],
    tagsOf: () => [],
    answeredAtMs: () => undefined,
    setAnswering: () => undefined,
  };

  protected override newHost(platform: Platform): UsersHost {
    return new UsersHost(platform, this.context.config);
  }

  /** Whether orders are kept that not all objects have carried out. */
  get keepsOrders(): boolean {
    if (!hasTable(this.storage, "user_order")) return false;
    return this.storage.rows("SELECT 1 FROM user_order WHERE body IS NOT NULL").length > 0;
  }

  /** @param taken called when the order is durable, before any object is called with it */
  order(user: string, order: UserOrder, taken: () => void, answer: Done<Ordered>): void {
    this.call<Ordered>((host, done) => {
      let isRefused = false;
      host.order(user, [order], (ordered) => {
        isRefused = ordered.outcome === "overloaded" || ordered.outcome === "limit-exceeded";
        done(ordered);
      });
      if (isRefused) return;
      if (this.storage.clean) taken();
      else this.#takings.at(-1)?.push(taken);
    }, answer);
  }

  newClient(): string {
    throw new Error("a home has no clients");
  }

  newEpoch(): string {
    throw new Error("a home has no stream");
  }

  protected override save(): () => void {
    const restore = super.save();
    const takings: (() => void)[] = [];
    this.#takings.push(takings);
    return () => {
      restore();
      this.#takings = this.#takings.filter((each) => each !== takings);
    };
  }

  protected override committed(): boolean {
    for (const taken of this.#takings.shift() ?? []) taken();
    return super.committed();
  }
}
