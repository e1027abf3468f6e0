import type { Config } from "../../src/config/config.ts";
import { userKey, userOfKey } from "../../src/contract/identity-key.ts";
import type { HeldConnections } from "../../src/contract/connection-state.ts";
import type { CarriedOut, NumberedOrder } from "../../src/contract/user-order.ts";
import type { OnlineUsers } from "../../src/contract/user-status.ts";
import { isTold } from "../../src/events/event.ts";
import { connectionStates } from "../../src/session/connection-state.ts";
import type { SessionContext } from "../../src/session/ports.ts";
import type { Session } from "../../src/session/session.ts";
import { UserRates } from "../../src/session/rate-limit.ts";
import { ConnectionList } from "../../src/users/connection-list.ts";
import { EndedUsers } from "../../src/users/ended-users.ts";
import { LocalUsers } from "../../src/users/local-users.ts";
import type { Env } from "../platform/env.ts";
import { admit, register, tellEnded } from "./calls.ts";

/**
 * The users of one object's connections: registers them with their homes, and answers the homes' calls about them
 * (section U of src/SPEC.md). `LocalUsers` and `EndedUsers` decide; this makes the calls.
 */
export class ObjectUsers {
  readonly #object: UsersHost;
  readonly #users: LocalUsers;

  constructor(object: UsersHost) {
    this.#object = object;
    this.#users = new LocalUsers(
      (home, users, done, ends) => {
        void this.#call(register(object.homes, home, object.node(), users, ends), done);
      },
      (home, connections, done) => {
        const { userConnectionLimit: limit, personalChannel } = object.config.client;
        const slots = { limit, single: personalChannel.singleConnection };
        void this.#call(admit(object.homes, home, object.node(), connections, slots), done);
      },
    );
  }

  /** What sessions need: where users have homes, registration with them; and the users' rates, if they have any. */
  get ofSessions(): Pick<SessionContext, "users" | "userEnded" | "userRates"> {
    const { config } = this.#object;
    const { users, userRateLimit } = config.client;
    return {
      ...(users.enabled && { users: this.#users, ...this.#tellOfEnds() }),
      ...(userRateLimit.size > 0 && { userRates: new UserRates(config) }),
    };
  }

  // What follows are calls of src/contract/object-calls.ts.
  async carryOut(user: string, orders: readonly NumberedOrder[]): Promise<CarriedOut> {
    const { sessions, endEvent } = this.#object;
    const carriedOut = Promise.withResolvers<CarriedOut | undefined>();
    this.#users.carryOut(user, orders, sessions, Date.now(), carriedOut.resolve);
    await endEvent(Date.now());
    const answer = (await carriedOut.promise) ?? { left: true, failed: true };
    await endEvent(Date.now());
    return answer;
  }

  async clientsOf(users: readonly string[]): Promise<readonly string[]> {
    const keys = new Set(users);
    await this.#sweep();
    const open: string[] = [];
    for (const { takesOrders, user, client } of this.#object.sessions())
      if (takesOrders && keys.has(userKey(user))) open.push(client);
    return open;
  }

  async connections(key: string): Promise<HeldConnections> {
    await this.#sweep();
    const { sessions, left } = this.#users.find(userOfKey(key), this.#object.sessions());
    const list = new ConnectionList();
    list.add(connectionStates(sessions.filter(({ hasConnected, held }) => hasConnected && !held)));
    return { ...list.result, left };
  }

  async online(users: readonly string[]): Promise<OnlineUsers> {
    await this.#sweep();
    return { users: this.#users.present(users, this.#object.sessions()) };
  }

  /** Has the homes told when users' connections have ended, where anybody wants to know. */
  #tellOfEnds(): Pick<SessionContext, "userEnded"> {
    const { config, homes, later, sessions, called, node } = this.#object;
    const keepsStatus = config.client.users.status;
    const tellsWhoIsOnline = isTold(config.events, "user_offline");
    if (!keepsStatus && !tellsWhoIsOnline) return {};
    const ended = new EndedUsers({
      keepsStatus,
      tellsWhoIsOnline,
      later,
      sessions,
      tell: (home, wereOnline, left) => {
        called();
        const asked = left.length === 0 ? undefined : { holder: node(), users: left };
        void tellEnded(homes, home, wereOnline, asked);
      },
    });
    return { userEnded: (one) => ended.ended(one) };
  }

  async #call<Answer>(call: Promise<Answer>, done: (answer: Answer) => void): Promise<void> {
    this.#object.called();
    done(await call);
    await this.#object.endEvent(Date.now());
  }

  /** Closes silent connections, which aren't to be told of. */
  async #sweep(): Promise<void> {
    const nowMs = Date.now();
    this.#object.sweep(nowMs);
    await this.#object.endEvent(nowMs);
  }
}

/** The object whose connections they have. */
interface UsersHost {
  readonly config: Config;
  readonly homes: Env["USERS"];
  readonly node: () => string;
  readonly sessions: () => Iterable<Session>;
  /** Closes connections that should have answered. */
  readonly sweep: (nowMs: number) => void;
  /** Called before each call. */
  readonly called: () => void;
  readonly later: (waitMs: number, work: () => void) => void;
  readonly endEvent: (nowMs: number) => Promise<void>;
}
