import { KnownDeltas } from "../../../src/delta/delta-chain.ts";
import { resolveChannel } from "../../../src/channel/channel-name.ts";
import { Channel } from "../../../src/channel/channel.ts";
import { SingleChannel } from "../../../src/session/single-channel.ts";
import type { Config } from "../../../src/config/config.ts";
import type { SessionContext, VerifiedTokens } from "../../../src/session/ports.ts";
import type { SessionSnapshot } from "../../../src/contract/session-snapshot.ts";
import { configured } from "../../support/configured.ts";
import { NodeSql } from "../../support/node-sql.ts";
import { json } from "../api/channel-config.ts";
import { Peer } from "./peer.ts";
import { connectionToken } from "./verified-tokens.ts";

/** What is special about a room; everything else is as by default, and its channel is called `room`. */
export interface RoomSetup {
  readonly name?: string;
  /** Options of channels without a namespace, as an operator writes them. */
  readonly options?: object;
  /** The configuration's `client`. */
  readonly client?: object;
  /** More of the configuration's `channel`. */
  readonly channel?: object;
  /** The configuration's `rpc`. */
  readonly rpc?: object;
}

/** One channel and its sessions, driven as an object drives them. Time stands still unless a test moves it. */
export class Room {
  readonly config: Config;
  readonly peers: Peer[] = [];
  channel: Channel;
  nowMs = startMs;
  readonly #name: string;
  readonly #sql = new NodeSql();
  #epochs = 0;
  #clients = 0;

  constructor({ name = "room", options = {}, client, channel, rpc }: RoomSetup = {}) {
    this.#name = name;
    const channels = { ...channel, without_namespace: options };
    this.config = configured({ client: { ...client }, channel: channels, rpc: { ...rpc } });
    this.channel = this.#newChannel();
  }

  /** A socket that was just opened. Connection IDs are c1, c2 and so on. */
  open(more: Partial<SessionSnapshot> = {}): Peer {
    const client = `c${++this.#clients}`;
    const { nowMs: openedAtMs } = this;
    const fresh = { phase: "new", client, openedAtMs, keepalive: "server" } as const;
    const peer = new Peer({ ...fresh, subscriptions: [], ...more }, this.#context());
    this.peers.push(peer);
    return peer;
  }

  /** A connected session of this user; what it heard so far is dropped. */
  connected(user = "42", more: Partial<SessionSnapshot> = {}): Peer {
    const peer = this.open(more);
    this.say(peer, `{"id":1,"connect":{}}`, connectionToken(user));
    peer.hears();
    return peer;
  }

  /** A subscribed session of this user; what anybody heard so far is dropped. */
  subscribed(user = "42", request = `{"channel":"room"}`, verdicts: VerifiedTokens = {}): Peer {
    const peer = this.connected(user);
    this.say(peer, `{"id":2,"subscribe":${request}}`, verdicts);
    if (peer.saved.subscriptions.length === 0) throw new Error(`refused: ${peer.hears().join()}`);
    this.forgetHeard();
    return peer;
  }

  /** Drops what anybody heard so far. */
  forgetHeard(): void {
    for (const peer of this.peers) peer.hears();
  }

  /** Hands over a frame, and sends what it published if nothing is to be collected. */
  say(peer: Peer, frame: string, verdicts: VerifiedTokens = {}): void {
    peer.say(frame, verdicts, this.nowMs, () => this.channel.hub.settle(this.nowMs));
  }

  /** {@link say}, and what the same peer heard since it last was asked. */
  ask(peer: Peer, frame: string, verdicts: VerifiedTokens = {}): readonly string[] {
    this.say(peer, frame, verdicts);
    return peer.hears();
  }

  /** Publishes as a backend does. */
  publish(data: string): void {
    this.channel.publish({ ...plain, data: json(data) }, undefined, this.nowMs);
    this.channel.hub.settle(this.nowMs);
  }

  /** Lets time pass, and then does what an alarm does. */
  pass(ms: number): void {
    this.nowMs += ms;
    const { nowMs } = this;
    const due = this.peers.some((peer) => !peer.gone && peer.session.pingDueAtMs <= nowMs);
    for (const peer of this.peers) if (!peer.gone) peer.session.tick(due, nowMs);
    this.channel.hub.settle(nowMs);
    this.channel.deleteExpired(nowMs);
  }

  /** The peer's socket closes. */
  end(peer: Peer): void {
    peer.gone = true;
    peer.session.ended();
    this.channel.hub.settle(this.nowMs);
  }

  /** Throws everything away but the storage, the sockets and their attachments, and makes it again. */
  sleep(): void {
    if (this.channel.hub.collecting) throw new Error("a timer keeps the object awake");
    this.channel = this.#newChannel();
    for (const peer of this.peers) if (!peer.gone) peer.wake(this.#context());
  }

  #context(): SessionContext {
    const { config, channel } = this;
    return {
      config,
      channels: new SingleChannel(channel, config.channel, nobodyFollows),
      knownDeltas: new KnownDeltas(),
      version: "test",
      node: `channel:${channel.name}`,
      channel: channel.name,
      serverSubscriptions: false,
      storesRows: false,
    };
  }

  #newChannel(): Channel {
    const resolved = resolveChannel(this.#name, this.config.channel);
    if (resolved.outcome !== "resolved") throw new Error(resolved.outcome);
    return new Channel({
      name: this.#name,
      options: resolved.options,
      client: this.config.client,
      sql: this.#sql,
      newEpoch: () => `epoch${++this.#epochs}`,
      instance: this.nowMs,
      nowMs: this.nowMs,
    });
  }
}

function nobodyFollows(): never {
  throw new Error("no gateway follows the channel, so none is to be asked");
}

/** When every room opens: ms since 1970, a whole second. */
export const startMs = 1_700_000_000_000;

const plain = {
  skipHistory: false,
  idempotencyKey: "",
  version: 0n,
  versionEpoch: "",
  delta: false,
} as const;
