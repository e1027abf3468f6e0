import { Backlog } from "../../../src/hub/backlog.ts";
import { KnownDeltas } from "../../../src/delta/delta-chain.ts";
import { cursorMethodsOf } from "../../../src/features/cursors/client-methods.ts";
import { joinedMethods } from "../../../src/object/client-methods.ts";
import { callMethodsOf } from "../../../src/features/procedures/client-method.ts";
import { withChannelCode } from "../../../src/features/procedures/config.ts";
import type { ChannelDefinitions } from "../../../src/features/procedures/definition.ts";
import { appendMethodsOf } from "../../../src/features/maps/growth/client-method.ts";
import { subscriptionTypes } from "../../../src/features/index.ts";
import type { Config } from "../../../src/config/config.ts";
import type { SessionContext, VerifiedTokens } from "../../../src/session/ports.ts";
import type { SessionSnapshot } from "../../../src/contract/session-snapshot.ts";
import { configured } from "../../support/configured.ts";
import { BackendApprover } from "../../../src/features/hooks/approver.ts";
import { SessionUsers } from "../../../src/users/session-users.ts";
import type { LocalUsers } from "../../../src/users/local-users.ts";
import { NamedChannels } from "../../../src/session/named-channels.ts";
import { UserRates } from "../../../src/session/rate-limit.ts";
import { TestConnection } from "./test-connection.ts";
import type { Refusal } from "../../../src/access/refusal.ts";
import { startMs } from "./channel-fixture.ts";
import { ScriptedBackend } from "./scripted-backend.ts";
import { ScriptedChannels } from "./scripted-channels.ts";
import { connectionToken } from "./verified-tokens.ts";

/** The options in which a fixture differs from the defaults. */
export interface ManyChannelsSetup {
  /** Options of channels without a namespace, as an operator writes them. */
  readonly options?: object;
  /** The configuration's `client`. */
  readonly client?: object;
  /** More of the configuration's `channel`. */
  readonly channel?: object;
  /** The configuration's `rpc`. */
  readonly rpc?: object;
  /** The configuration's `proxies`. */
  readonly proxies?: readonly object[];
  /** The code of channels, by their namespaces. */
  readonly code?: ChannelDefinitions;
  /** Whether sessions can lie in rows. */
  readonly storesRows?: boolean;
  /** Whether the server makes subscriptions of its own. */
  readonly serverSubscriptions?: boolean;
  /** The users of the object; absent where users have no homes. */
  readonly users?: LocalUsers;
  /** Takes what a backend is told of the sessions; absent where it is told nothing. */
  readonly observe?: SessionContext["observe"];
  /** Does work in another turn; absent where all that waited is carried out at once. */
  readonly later?: (waitMs: number, work: () => void) => void;
}

/**
 * Sessions with many channels each, whose answers come when a test says so. Time stands still unless a test moves it.
 */
export class ManyChannelsFixture {
  /** The backlog of the object's other clients. */
  othersBacklogBytes = 0;
  readonly config: Config;
  readonly channels: ScriptedChannels;
  /** Answers the hooks that the configuration switches on. */
  readonly backend = new ScriptedBackend(() => this.nowMs);
  /** What the log is told. */
  readonly refusals: Refusal[] = [];
  nowMs = startMs;
  readonly #storesRows: boolean;
  readonly #serverSubscriptions: boolean;
  readonly #users: LocalUsers | undefined;
  readonly #observe: SessionContext["observe"];
  readonly #later: ManyChannelsSetup["later"];
  readonly #userRates: UserRates;
  readonly #namedChannels: NamedChannels;
  #clients = 0;

  constructor(setup: ManyChannelsSetup = {}) {
    const { options, client, channel, rpc, proxies } = setup;
    const { storesRows = true, serverSubscriptions = true } = setup;
    const open = { allow_subscribe_for_client: true, allow_publish_for_client: true, ...options };
    this.config = withChannelCode(
      configured({
        client: { pong: "always", ...client },
        channel: { ...channel, without_namespace: open },
        rpc: { ...rpc },
        proxies: [...(proxies ?? [])],
      }),
      setup.code ?? {},
    ).config;
    this.channels = new ScriptedChannels(this.config.channel);
    this.#storesRows = storesRows;
    this.#serverSubscriptions = serverSubscriptions;
    this.#users = setup.users;
    this.#observe = setup.observe;
    this.#later = setup.later;
    this.#userRates = new UserRates(this.config);
    this.#namedChannels = new NamedChannels(this.config.client.channelLimit);
  }

  /** A socket that was just opened. Connection IDs are c1, c2 and so on. */
  open(more: Partial<SessionSnapshot> = {}): TestConnection {
    const client = `c${++this.#clients}`;
    const { nowMs: openedAtMs } = this;
    const fresh = { phase: "new", client, openedAtMs, keepalive: "server" } as const;
    return new TestConnection({ ...fresh, subscriptions: [], ...more }, this.#context());
  }

  /** A connected session of this user; its frames and calls so far are dropped. */
  connected(user = "42"): TestConnection {
    const connection = this.open();
    this.send(connection, `{"id":1,"connect":{}}`, connectionToken(user));
    connection.takeSent();
    return connection;
  }

  /** A session that is subscribed to these channels; its frames and calls so far are dropped. */
  subscribed(...channels: readonly string[]): TestConnection {
    const connection = this.connected();
    for (const channel of channels) {
      this.send(connection, `{"id":2,"subscribe":{"channel":"${channel}"}}`);
      this.channels.acceptSubscribe(channel);
    }
    connection.takeSent();
    this.channels.takeCalls();
    return connection;
  }

  /** Hands over a frame. */
  send(connection: TestConnection, frame: string, tokens: VerifiedTokens = {}): void {
    connection.receive(frame, tokens, this.nowMs, () => undefined);
  }

  /** {@link send}, and the connection's frames since the last call. */
  ask(connection: TestConnection, frame: string, tokens: VerifiedTokens = {}): readonly string[] {
    this.send(connection, frame, tokens);
    return connection.takeSent();
  }

  /** Lets time pass, and then runs the alarm's work for a connection, whose client has answered all pings. */
  pass(connection: TestConnection, ms: number): void {
    this.nowMs += ms;
    connection.autoResponseMs = this.nowMs;
    connection.session.tick(connection.session.pingDueAtMs(this.nowMs) <= this.nowMs, this.nowMs);
  }

  /** Restores the session from its saved state, as a gateway does when it wakes. */
  wake(connection: TestConnection): void {
    this.channels.forget();
    connection.wake(this.#context());
  }

  #context(): SessionContext {
    const { config } = this;
    const methods = [appendMethodsOf(config), callMethodsOf(config), cursorMethodsOf(config)];
    const clientMethods = joinedMethods(methods.filter((some) => some !== undefined));
    return {
      config: this.config,
      channels: this.channels,
      ...(this.#users === undefined ? {} : { registrar: new SessionUsers(this.#users) }),
      ...(this.#observe !== undefined && { observe: this.#observe }),
      ...(this.#later === undefined ? {} : { later: this.#later }),
      userRates: this.#userRates,
      namedChannels: this.#namedChannels,
      ...(this.config.hooks.targets.size > 0 && {
        approver: new BackendApprover(this.backend.hooks),
      }),
      refused: (refusal) => this.refusals.push(refusal),
      backlog: new Backlog({
        sockets: () => [
          { backlogBytes: () => this.othersBacklogBytes, disconnect: () => undefined },
        ],
        nowMs: () => this.nowMs,
      }),
      subscriptionTypes,
      ...(clientMethods && { clientMethods }),
      knownDeltas: new KnownDeltas(),
      version: "test",
      node: "gateway:eu/1",
      serverSubscriptions: this.#serverSubscriptions,
      storesRows: this.#storesRows,
    };
  }
}
