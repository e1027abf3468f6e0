import { plainPublication } from "../../../src/channel/publication-request.ts";
import { Backlog, type BackloggedSocket } from "../../../src/hub/backlog.ts";
import { NamedChannels } from "../../../src/session/named-channels.ts";
import { KnownDeltas } from "../../../src/delta/delta-chain.ts";
import { featuredChannels, subscriptionTypes } from "../../../src/features/index.ts";
import { resolveChannel } from "../../../src/channel/channel-name.ts";
import { Channel } from "../../../src/channel/channel.ts";
import { SharedPresence } from "../../../src/channel/shared-presence.ts";
import { partsOfSetup } from "../../../src/object/object-host.ts";
import type { ObjectPart } from "../../../src/object/part.ts";
import { SingleChannel } from "../../../src/session/single-channel.ts";
import type { Config } from "../../../src/config/config.ts";
import type { SessionContext, VerifiedTokens } from "../../../src/session/ports.ts";
import type { SessionSnapshot } from "../../../src/contract/session-snapshot.ts";
import { configured } from "../../support/configured.ts";
import { callMethodsOf } from "../../../src/features/procedures/client-method.ts";
import { withChannelCode } from "../../../src/features/procedures/config.ts";
import type { ChannelDefinition } from "../../../src/features/procedures/definition.ts";
import { CountingSql } from "../../support/counting-sql.ts";
import { NodeSql } from "../../../package/test/node-sql.ts";
import { json } from "../api/channel-config.ts";
import { TestConnection } from "./test-connection.ts";
import { connectionToken } from "./verified-tokens.ts";

/** The options in which a fixture differs from the defaults. Its channel is called `room`. */
export interface ChannelFixtureSetup {
  readonly name?: string;
  /** Options of channels without a namespace, as an operator writes them. */
  readonly options?: object;
  /** The configuration's `client`. Unless it says otherwise, clients are asked for pongs. */
  readonly client?: object;
  /** More of the configuration's `channel`. */
  readonly channel?: object;
  /** The configuration's `rpc`. */
  readonly rpc?: object;
  /** The configuration's `events`. */
  readonly events?: object;
  /** The code of channels without a namespace. */
  readonly code?: ChannelDefinition;
}

/** One channel and its sessions, driven as an object drives them. Time stands still unless a test moves it. */
export class ChannelFixture {
  readonly config: Config;
  readonly connections: TestConnection[] = [];
  channel: Channel;
  /** What features do with the subscriptions. */
  parts: readonly ObjectPart[];
  nowMs = startMs;
  readonly #name: string;
  readonly sql = new CountingSql(new NodeSql());
  readonly #backlog = new Backlog({
    sockets: () => this.connections.map(backlogged),
    nowMs: () => this.nowMs,
  });
  readonly #turns: (() => void)[] = [];
  #epochs = 0;
  #clients = 0;

  constructor({
    name = "room",
    options = {},
    client,
    channel,
    rpc,
    events,
    code,
  }: ChannelFixtureSetup = {}) {
    this.#name = name;
    const channels = { ...channel, without_namespace: options };
    const config = configured({
      client: { pong: "always", ...client },
      channel: channels,
      rpc: { ...rpc },
      ...(events && { events }),
    });
    this.config = code === undefined ? config : withChannelCode(config, { "": code }).config;
    this.channel = this.#newChannel();
    this.parts = this.newParts();
  }

  /** A socket that was just opened. Connection IDs are c1, c2 and so on. */
  open(more: Partial<SessionSnapshot> = {}): TestConnection {
    const client = `c${++this.#clients}`;
    const { nowMs: openedAtMs } = this;
    const fresh = { phase: "new", client, openedAtMs, keepalive: "server" } as const;
    const connection = new TestConnection(
      { ...fresh, subscriptions: [], ...more },
      this.#context(),
    );
    this.connections.push(connection);
    return connection;
  }

  /** A connected session of this user; its frames so far are dropped. */
  connected(user = "42", more: Partial<SessionSnapshot> = {}): TestConnection {
    const connection = this.open(more);
    this.send(connection, `{"id":1,"connect":{}}`, connectionToken(user));
    connection.takeSent();
    return connection;
  }

  /** A subscribed session of this user; all frames so far are dropped. */
  subscribed(
    user = "42",
    request = `{"channel":"room"}`,
    tokens: VerifiedTokens = {},
  ): TestConnection {
    const connection = this.connected(user);
    this.send(connection, `{"id":2,"subscribe":${request}}`, tokens);
    if (connection.saved.subscriptions.length === 0)
      throw new Error(`refused: ${connection.takeSent().join()}`);
    this.dropSent();
    return connection;
  }

  /** Drops all frames so far. */
  dropSent(): void {
    for (const connection of this.connections) connection.takeSent();
  }

  /**
   * Passes a frame to the session, sends its publications if nothing is collected, and gives the event loop the turns
   * that are awaited.
   */
  send(connection: TestConnection, frame: string, tokens: VerifiedTokens = {}): void {
    connection.receive(frame, tokens, this.nowMs, () => this.channel.hub.begin());
    for (let turn = this.#turns.shift(); turn !== undefined; turn = this.#turns.shift()) {
      turn();
      this.channel.hub.begin();
    }
  }

  /** {@link send}, and the connection's frames since the last call. */
  ask(connection: TestConnection, frame: string, tokens: VerifiedTokens = {}): readonly string[] {
    this.send(connection, frame, tokens);
    return connection.takeSent();
  }

  /** Publishes as a backend does. */
  publish(data: string): void {
    this.channel.publish(plainPublication(json(data)), undefined, this.nowMs);
    this.channel.hub.begin();
  }

  /** Lets time pass, and then runs the alarm's work. */
  pass(ms: number): void {
    this.nowMs += ms;
    const { nowMs } = this;
    const due = this.connections.some(
      (connection) => !connection.gone && connection.session.pingDueAtMs(nowMs) <= nowMs,
    );
    for (const connection of this.connections)
      if (!connection.gone) connection.session.tick(due, nowMs);
    this.channel.hub.begin();
    this.channel.deleteExpired(nowMs);
  }

  /** The peer's socket closes. */
  end(connection: TestConnection): void {
    connection.gone = true;
    connection.session.ended();
    this.channel.hub.begin();
  }

  /** Throws everything away but the storage, the sockets and their attachments, and makes it again. */
  hibernate(): void {
    if (this.channel.hub.sending) throw new Error("a timer keeps the object awake");
    this.channel = this.#newChannel();
    this.parts = this.newParts();
    for (const connection of this.connections)
      if (!connection.gone) connection.wake(this.#context());
  }

  #context(): SessionContext {
    const { config, channel } = this;
    const presence = new SharedPresence({
      later: (_, work) => this.#turns.push(work),
      gather: (done) => done({ clients: [], complete: true }),
      subscribers: () => channel.hub.subscribers,
    });
    return {
      config,
      channels: new SingleChannel(
        channel,
        config.channel,
        presence,
        () => this.nowMs,
        undefined,
        this.parts,
      ),
      backlog: this.#backlog,
      subscriptionTypes,
      knownDeltas: new KnownDeltas(),
      namedChannels: new NamedChannels(1_000),
      version: "test",
      node: `channel:${channel.name}`,
      channel: channel.name,
      serverSubscriptions: false,
      storesRows: false,
      ...partsOfSetup(this.parts, (part) => part.ofSessions),
    };
  }

  #newChannel(): Channel {
    const resolved = resolveChannel(this.#name, this.config.channel);
    if (resolved.outcome !== "resolved") throw new Error(resolved.outcome);
    return new Channel({
      name: this.#name,
      options: resolved.options,
      client: this.config.client,
      sql: this.sql,
      newEpoch: () => `epoch${++this.#epochs}`,
      instance: this.nowMs,
      nowMs: this.nowMs,
      features: featuredChannels(this.config),
    });
  }

  /** Makes the parts of a fresh instance: where the channel has code, clients may have the method that calls it. */
  protected newParts(): readonly ObjectPart[] {
    const clientMethods = callMethodsOf(this.config);
    return clientMethods === undefined ? [] : [{ ofSessions: { clientMethods } }];
  }
}

/** The time at which every fixture begins: ms since 1970, a whole second. */
export const startMs = 1_700_000_000_000;

function backlogged(connection: TestConnection): BackloggedSocket {
  return {
    backlogBytes: () => connection.backlog,
    disconnect: (code) => connection.session.disconnect(code),
  };
}
