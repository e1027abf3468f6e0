import type { Config } from "../config/config.ts";
import { userKey, userOfKey } from "../contract/identity-key.ts";
import type { HeldConnections } from "../contract/connection-state.ts";
import type { CarriedOut, HeldKeys, NumberedOrder } from "../contract/user-order.ts";
import type { OnlineUsers } from "../contract/user-status.ts";
import { limits } from "../limits.ts";
import { homesHaveParts } from "../features/index.ts";
import { connectionStates } from "../session/connection-state.ts";
import type { SessionContext } from "../session/ports.ts";
import type { Session } from "../session/session.ts";
import { UserRates } from "../session/rate-limit.ts";
import { ConnectionList } from "../users/connection-list.ts";
import { EndedUsers } from "../users/ended-users.ts";
import { takesOrders } from "../users/session-orders.ts";
import { SessionUsers } from "../users/session-users.ts";
import { LocalUsers } from "../users/local-users.ts";
import { answerOf, type CallAnswer, type CallRequest } from "./object-call.ts";
import type { Platform } from "./platform.ts";

/**
 * The users of one object's connections: registers them with their homes, and answers the homes' calls about them
 * (the rules U). `LocalUsers` and `EndedUsers` decide; this makes the calls.
 */
export class ObjectUsers {
  readonly #object: ConnectedObject;
  readonly #users: LocalUsers;

  constructor(object: ConnectedObject) {
    this.#object = object;
    this.#users = new LocalUsers(
      (home, users, done, ends) =>
        this.#callHome("register", home, [object.node(), users, ends], done),
      (home, connections, done) => {
        const { userConnectionLimit: limit, personalChannel } = object.config.client;
        const single = personalChannel.singleConnection;
        this.#callHome("admit", home, [object.node(), connections, limit, single], done);
      },
    );
  }

  /** What sessions need: where users have homes, registration with them; and the users' rates, if they have any. */
  get ofSessions(): Pick<SessionContext, "registrar" | "userRates"> {
    const { config } = this.#object;
    const { users, userRateLimit } = config.client;
    return {
      ...(users.enabled && { registrar: new SessionUsers(this.#users, this.#endedUsers()) }),
      ...(userRateLimit.size > 0 && { userRates: new UserRates(config) }),
    };
  }

  // What follows are calls of src/contract/object-calls.ts.
  carryOut(
    user: string,
    orders: readonly NumberedOrder[],
    done: (carriedOut: CarriedOut) => void,
  ): void {
    const { platform, sessions, endEvent } = this.#object;
    let isLater = false;
    let answer: CarriedOut | undefined;
    const answered = (carriedOut: CarriedOut): void => {
      endEvent(platform.nowMs());
      done(carriedOut);
    };
    this.#users.carryOut(user, orders, sessions, platform.nowMs(), (carriedOut) => {
      answer = carriedOut ?? { left: true, failed: true };
      if (isLater) answered(answer);
    });
    isLater = true;
    if (answer === undefined) endEvent(platform.nowMs());
    else answered(answer);
  }

  clientsOf(users: readonly string[]): readonly string[] {
    const keys = new Set(users);
    this.#sweep();
    const open: string[] = [];
    for (const one of this.#object.sessions())
      if (takesOrders(one) && keys.has(userKey(one.user))) open.push(one.client);
    return open;
  }

  connections(key: string): HeldConnections {
    this.#sweep();
    const { sessions, left } = this.#users.sessionsOf(userOfKey(key), this.#object.sessions());
    const list = new ConnectionList();
    list.append(
      connectionStates(sessions.filter(({ hasConnected, held }) => hasConnected && !held)),
    );
    return { ...list.result, left };
  }

  heldOf(home: string): HeldKeys {
    this.#sweep();
    return this.#users.heldOf(home, this.#object.sessions());
  }

  online(users: readonly string[]): OnlineUsers {
    this.#sweep();
    return { users: this.#users.present(users, this.#object.sessions()) };
  }

  /** Reports to the homes when users' connections have ended; undefined where nothing needs these reports. */
  #endedUsers(): EndedUsers | undefined {
    const { config, platform, later, sessions, called, node } = this.#object;
    const keepsStatus = config.client.users.status;
    const reportsWhoIsOnline = homesHaveParts(config);
    if (!keepsStatus && !reportsWhoIsOnline) return undefined;
    return new EndedUsers({
      keepsStatus,
      reportsWhoIsOnline,
      later,
      users: () => [...sessions()].filter(takesOrders).map(({ user }) => user),
      report: (home, wereOnline, left) => {
        called();
        const asked = left.length === 0 ? undefined : { holder: node(), users: left };
        // This call isn't repeated. A home that doesn't receive it takes the users for online until its next sweep.
        platform.call("ended", home, [wereOnline, asked], limits.objectAnswerMs, () => undefined);
      },
    });
  }

  /** Makes a call to a home, and once more if it fails: the home may be on its way to another machine. */
  #callHome<Name extends "register" | "admit">(
    name: Name,
    home: string,
    request: CallRequest<Name>,
    done: (answer: CallAnswer<Name> | undefined) => void,
  ): void {
    const { platform, called, endEvent } = this.#object;
    const endsAtMs = platform.nowMs() + limits.registerAnswerMs;
    const call = (isFirst: boolean): void => {
      const waitMs = endsAtMs - platform.nowMs();
      platform.call(name, home, request, waitMs, (reply) => {
        const isRepeated =
          isFirst && reply.outcome === "failed" && !reply.overloaded && platform.nowMs() < endsAtMs;
        if (isRepeated) {
          call(false);
          return;
        }
        done(answerOf(reply));
        endEvent(platform.nowMs());
      });
    };
    called();
    call(true);
  }

  /** Closes silent connections, so that they aren't reported as online. */
  #sweep(): void {
    const nowMs = this.#object.platform.nowMs();
    this.#object.sweep(nowMs);
    this.#object.endEvent(nowMs);
  }
}

/** The object whose connections they have. */
interface ConnectedObject {
  readonly config: Config;
  readonly platform: Pick<Platform, "nowMs" | "call">;
  readonly node: () => string;
  readonly sessions: () => Iterable<Session>;
  /** Closes connections that should have answered. */
  readonly sweep: (nowMs: number) => void;
  /** Called before each call. */
  readonly called: () => void;
  readonly later: (waitMs: number, work: () => void) => void;
  readonly endEvent: (nowMs: number) => void;
}
