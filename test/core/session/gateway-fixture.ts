import { KnownDeltas } from "../../../src/delta/delta-chain.ts";
import type { Config } from "../../../src/config/config.ts";
import type { SessionContext, VerifiedTokens } from "../../../src/session/ports.ts";
import type { SessionSnapshot } from "../../../src/contract/session-snapshot.ts";
import { configured } from "../../support/configured.ts";
import { Peer } from "./peer.ts";
import { startMs } from "./channel-fixture.ts";
import { ScriptedChannels } from "./scripted-channels.ts";
import { connectionToken } from "./verified-tokens.ts";

/** What is special about a switchboard; everything else is as by default. */
export interface SwitchboardSetup {
  /** Options of channels without a namespace, as an operator writes them. */
  readonly options?: object;
  /** The configuration's `client`. */
  readonly client?: object;
  /** More of the configuration's `channel`. */
  readonly channel?: object;
  /** Whether sessions can lie in rows. */
  readonly storesRows?: boolean;
  /** Whether the server makes subscriptions of its own. */
  readonly serverSubscriptions?: boolean;
}

/** Sessions that have many channels each, which answer when a test says so. Time stands still unless a test moves it. */
export class Switchboard {
  readonly config: Config;
  readonly channels: ScriptedChannels;
  nowMs = startMs;
  readonly #storesRows: boolean;
  readonly #serverSubscriptions: boolean;
  #clients = 0;

  constructor(setup: SwitchboardSetup = {}) {
    const { options, client, channel, storesRows = true, serverSubscriptions = true } = setup;
    const open = { allow_subscribe_for_client: true, allow_publish_for_client: true, ...options };
    this.config = configured({
      client: { ...client },
      channel: { ...channel, without_namespace: open },
    });
    this.channels = new ScriptedChannels(this.config.channel);
    this.#storesRows = storesRows;
    this.#serverSubscriptions = serverSubscriptions;
  }

  /** A socket that was just opened. Connection IDs are c1, c2 and so on. */
  open(more: Partial<SessionSnapshot> = {}): Peer {
    const client = `c${++this.#clients}`;
    const { nowMs: openedAtMs } = this;
    const fresh = { phase: "new", client, openedAtMs, keepalive: "server" } as const;
    return new Peer({ ...fresh, subscriptions: [], ...more }, this.#context());
  }

  /** A connected session of this user; what it heard and asked so far is dropped. */
  connected(user = "42"): Peer {
    const peer = this.open();
    this.say(peer, `{"id":1,"connect":{}}`, connectionToken(user));
    peer.hears();
    return peer;
  }

  /** A session that is subscribed to these; what it heard and asked so far is dropped. */
  subscribed(...channels: readonly string[]): Peer {
    const peer = this.connected();
    for (const channel of channels) {
      this.say(peer, `{"id":2,"subscribe":{"channel":"${channel}"}}`);
      this.channels.joined(channel);
    }
    peer.hears();
    this.channels.takeCalls();
    return peer;
  }

  /** Hands over a frame. */
  say(peer: Peer, frame: string, verdicts: VerifiedTokens = {}): void {
    peer.say(frame, verdicts, this.nowMs, () => undefined);
  }

  /** {@link say}, and what the same peer heard since it last was asked. */
  ask(peer: Peer, frame: string, verdicts: VerifiedTokens = {}): readonly string[] {
    this.say(peer, frame, verdicts);
    return peer.hears();
  }

  /** Makes the session again from what was saved of it, as a gateway does that wakes. */
  wake(peer: Peer): void {
    this.channels.forget();
    peer.wake(this.#context());
  }

  #context(): SessionContext {
    return {
      config: this.config,
      channels: this.channels,
      knownDeltas: new KnownDeltas(),
      version: "test",
      node: "gateway:eu/1",
      serverSubscriptions: this.#serverSubscriptions,
      storesRows: this.#storesRows,
    };
  }
}
