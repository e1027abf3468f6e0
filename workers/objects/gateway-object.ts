import { KnownDeltas } from "../../src/delta/delta-chain.ts";
import { Gateway } from "../../src/gateway/gateway.ts";
import type { GatewayCalls } from "../../src/contract/object-calls.ts";
import type { RelayBatch, RelayBatchReply } from "../../src/contract/relay-batch.ts";
import type { GatewayPresence } from "../../src/contract/relay-request.ts";
import { Session } from "../../src/session/session.ts";
import { version } from "../../src/version.ts";
import type { Env } from "../platform/env.ts";
import { parseGatewayName, gatewayNode } from "../../src/contract/object-names.ts";
import { SessionRows } from "../platform/session-rows.ts";
import { ask, askPresence } from "./calls.ts";
import { ClientSockets } from "./client-sockets.ts";
import { HibernatingObject } from "./hibernating-object.ts";

/**
 * Holds sockets that carry many channels, and passes on to them what the channels' objects tell it. It owns no truth: what
 * it knows of a channel it can ask for again, and what it knows of its clients is in their sockets' attachments.
 */
export class GatewayObject extends HibernatingObject implements GatewayCalls {
  readonly #gateway: Gateway;
  protected override readonly sockets: ClientSockets;

  constructor(context: DurableObjectState, env: Env) {
    super(context, env);
    const { config, verifier } = this;
    const name = context.id.name ?? "";
    const served = parseGatewayName(name);
    const only = served.kind === "channel" ? served.channel : undefined;
    const gateway = new Gateway({
      config,
      ports: {
        call: (channel, requests, answered) => {
          this.callsMade++;
          void this.#hand(ask(env.CHANNELS, channel, name, requests), answered);
        },
        presence: (channel, answered) => {
          this.callsMade++;
          void this.#hand(askPresence(env.CHANNELS, channel), answered);
        },
      },
      ...(only === undefined ? {} : { only }),
    });
    this.#gateway = gateway;
    const sessions = {
      config,
      channels: gateway,
      knownDeltas: new KnownDeltas(),
      version,
      node: gatewayNode(name),
      ...(only === undefined ? {} : { channel: only }),
      serverSubscriptions: served.kind === "pool",
      storesRows: true,
    };
    this.sockets = new ClientSockets({
      context,
      config,
      verifier,
      serverSubscriptions: sessions.serverSubscriptions,
      ...(only === undefined ? {} : { channel: only }),
      nearlyFull: () => gateway.nearlyFull,
      rows: new SessionRows(this.sql),
      newSession: (snapshot, connection) => new Session(snapshot, connection, sessions),
      acted: this.acted,
    });
  }

  /** Takes what happened on a channel, and passes it on (rule L1). */
  deliver(batch: RelayBatch): RelayBatchReply {
    const nowMs = Date.now();
    if (this.sockets.overloaded(nowMs)) return { outcome: "busy" };
    const answer = this.#gateway.take(batch, nowMs);
    this.settle(nowMs);
    return answer;
  }

  /** Who of this gateway's clients is present on a channel (rule P1). */
  async present(channel: string): Promise<GatewayPresence> {
    const nowMs = Date.now();
    this.sockets.sweep(nowMs, true);
    await this.acted(nowMs);
    return this.#gateway.present(channel);
  }

  /** Hands an answer to whoever asked, and sends what that caused. */
  async #hand<Result>(answer: Promise<Result>, done: (answer: Result) => void): Promise<void> {
    done(await answer);
    await this.acted(Date.now());
  }

  protected override readonly settle = (nowMs: number): void => {
    this.flushTimer.set(this.#gateway.settle(nowMs), nowMs);
  };

  protected override readonly onAlarm = async (nowMs: number): Promise<void> => {
    this.settle(nowMs);
  };

  /** Only sockets have something due here. */
  protected override readonly dueAtMs = (): number => Number.POSITIVE_INFINITY;
}
