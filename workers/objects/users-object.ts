import { DurableObject } from "cloudflare:workers";
import type { UserConnections } from "../../src/contract/connection-state.ts";
import type {
  ChannelsQuery,
  CountedChannels,
  GatewayInfos,
  ListedChannels,
} from "../../src/contract/listing.ts";
import type {
  DirectoryCalls,
  HomeCalls,
  PlacementAnswer,
  PlacementClaim,
} from "../../src/contract/object-calls.ts";
import type {
  Ordered,
  Registered,
  SlotAnswer,
  UserConnection,
  UserOrder,
} from "../../src/contract/user-order.ts";
import type { LeftUsers, UserStatusAnswer } from "../../src/contract/user-status.ts";
import { homeCalls } from "../../src/features/index.ts";
import { UsersHost } from "../../src/object/users-host.ts";
import { recordPlacement } from "../../src/users/placement-record.ts";
import { configurationOf } from "../platform/configuration.ts";
import { placedEnv } from "../platform/placed-env.ts";
import { DurablePlatform } from "./durable-platform.ts";
import type { Env } from "../platform/env.ts";
import { addCalls, type WrittenCalls } from "./session-object.ts";
import type { ObjectSql } from "../platform/object-sql.ts";

/** The object of a home of users, or of a shard of the directory. Its host decides everything. */
export class UsersObject
  extends DurableObject<Env>
  implements WrittenCalls<HomeCalls>, DirectoryCalls
{
  readonly host: UsersHost;
  /** Counts the rows written since the object woke; tests read the count. */
  readonly sql: ObjectSql;
  /** Calls that registered users since the object woke; tests read it. */
  callsTaken = 0;

  /** @throws when the Worker's configuration is invalid */
  constructor(context: DurableObjectState, env: Env) {
    super(context, env);
    addCalls(new.target.prototype, homeCalls);
    const configured = configurationOf(env);
    if (configured.outcome === "unconfigured") throw new Error(configured.problems.join("\n"));
    const platform = new DurablePlatform(context, placedEnv(env, configured.config), configured);
    this.sql = platform.sql;
    this.host = new UsersHost(platform, configured.config);
  }

  // The calls' contract is in src/contract/object-calls.ts.
  async register(
    holder: string,
    users: readonly string[],
    ends?: readonly number[],
  ): Promise<Registered> {
    this.callsTaken++;
    return this.host.register(holder, users, ends);
  }

  async isBlocked(user: string): Promise<boolean> {
    return this.host.isBlocked(user);
  }

  admit(
    holder: string,
    connections: readonly UserConnection[],
    limit: number,
    single?: boolean,
  ): Promise<SlotAnswer> {
    return new Promise((resolve) => this.host.admit([holder, connections, limit, single], resolve));
  }

  order(user: string, orders: readonly UserOrder[]): Promise<Ordered> {
    return new Promise((resolve) => this.host.order(user, orders, resolve));
  }

  connections(key: string): Promise<UserConnections> {
    return new Promise((resolve) => this.host.connections(key, resolve));
  }

  async holders(key: string): Promise<readonly string[]> {
    return this.host.holders(key);
  }

  ended(users: readonly string[], left?: LeftUsers): Promise<void> {
    return new Promise((resolve) => this.host.ended(users, left, resolve));
  }

  async eventsAfter(since: number, limit: number): Promise<readonly string[]> {
    return this.host.eventsAfter(since, limit);
  }

  async updateStatus(users: readonly string[], state: string): Promise<void> {
    this.host.updateStatus(users, state);
  }

  async deleteStatus(users: readonly string[]): Promise<void> {
    this.host.deleteStatus(users);
  }

  statuses(users: readonly string[]): Promise<UserStatusAnswer> {
    return new Promise((resolve) => this.host.statuses(users, resolve));
  }

  async list(node: string): Promise<void> {
    this.host.list(node);
  }

  async gateways(after: string, limit: number): Promise<readonly string[]> {
    return this.host.gateways(after, limit);
  }

  gatewayInfos(names: readonly string[]): Promise<GatewayInfos> {
    return new Promise((resolve) => this.host.gatewayInfos(names, resolve));
  }

  channels(query: ChannelsQuery): Promise<ListedChannels> {
    return new Promise((resolve) => this.host.channels(query, resolve));
  }

  channelCounts(names: readonly string[]): Promise<CountedChannels> {
    return new Promise((resolve) => this.host.channelCounts(names, resolve));
  }

  async recordPlacement(claim: PlacementClaim): Promise<PlacementAnswer> {
    return recordPlacement(this.sql, claim);
  }

  override alarm(): Promise<void> {
    return new Promise((resolve) => this.host.alarm(resolve));
  }
}
