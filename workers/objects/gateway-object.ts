import { DurableObject } from "cloudflare:workers";
import { KnownDeltas } from "../../src/delta/delta-chain.ts";
import { Gateway } from "../../src/gateway/gateway.ts";
import type { GatewayCalls } from "../../src/contract/object-calls.ts";
import type { RelayBatch, RelayBatchReply } from "../../src/contract/relay-batch.ts";
import type { GatewayPresence } from "../../src/contract/relay-request.ts";
import { Session } from "../../src/session/session.ts";
import { version } from "../../src/version.ts";
import { AlarmSchedule, NextTimer } from "../platform/alarm-schedule.ts";
import { configurationOf } from "../platform/configuration.ts";
import type { Env } from "../platform/env.ts";
import { parseGatewayName, gatewayNode } from "../../src/contract/object-names.ts";
import { ObjectSql } from "../platform/object-sql.ts";
import { SessionRows } from "../platform/session-rows.ts";
import { ask, askPresence } from "./channel-calls.ts";
import { ClientSockets } from "./client-sockets.ts";

/**
 * Holds sockets that carry many channels, and passes on to them what the channels' objects tell it. It owns no truth: what
 * it knows of a channel it can ask for again, and what it knows of its clients is in their sockets' attachments.
 */
export class GatewayObject extends DurableObject<Env> implements GatewayCalls {
  readonly #gateway: Gateway;
  readonly #sockets: ClientSockets;
  readonly #alarms: AlarmSchedule;
  /** Rows written since the object woke, for whoever watches the cost. */
  readonly sql: ObjectSql;
  /** Calls made to channels since the object woke, for whoever watches the cost. */
  callsMade = 0;
  readonly #flushTimer = new NextTimer(() => this.#settle(Date.now()));

  constructor(context: DurableObjectState, env: Env) {
    super(context, env);
    const configuration = configurationOf(env);
    if (configuration.outcome === "unconfigured")
      throw new Error(configuration.problems.join("\n"));
    const { config, verifier } = configuration;
    const name = context.id.name ?? "";
    const served = parseGatewayName(name);
    const only = served.kind === "channel" ? served.channel : undefined;
    this.#alarms = new AlarmSchedule(context.storage);
    this.sql = new ObjectSql(context.storage);
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
    this.#sockets = new ClientSockets({
      context,
      config,
      verifier,
      serverSubscriptions: sessions.serverSubscriptions,
      ...(only === undefined ? {} : { channel: only }),
      nearlyFull: () => gateway.nearlyFull,
      rows: new SessionRows(this.sql),
      newSession: (snapshot, connection) => new Session(snapshot, connection, sessions),
      acted: (nowMs) => this.#acted(nowMs),
    });
  }

  /** Takes what happened on a channel, and passes it on (rule L1). */
  deliver(batch: RelayBatch): RelayBatchReply {
    const nowMs = Date.now();
    if (this.#sockets.overloaded(nowMs)) return { outcome: "busy" };
    const answer = this.#gateway.take(batch, nowMs);
    this.#settle(nowMs);
    return answer;
  }

  /** Who of this gateway's clients is present on a channel (rule P1). */
  async present(channel: string): Promise<GatewayPresence> {
    const nowMs = Date.now();
    this.#sockets.sweep(nowMs, true);
    await this.#acted(nowMs);
    return this.#gateway.present(channel);
  }

  /** Takes over a socket that the edge let through. */
  override fetch(request: Request): Promise<Response> {
    return this.#sockets.accept(request);
  }

  /** Takes a frame that a client posted whose own socket the edge holds (docs/protocol.md 4.3). */
  post(session: string, frame: string | Uint8Array): Promise<void> {
    return this.#sockets.post(session, frame);
  }

  override webSocketMessage(socket: WebSocket, message: string | ArrayBuffer): Promise<void> {
    return this.#sockets.message(socket, message);
  }

  override webSocketClose(socket: WebSocket, code: number, reason: string): Promise<void> {
    return this.#sockets.closed(socket, code, reason);
  }

  override webSocketError(socket: WebSocket): Promise<void> {
    return this.#sockets.failed(socket);
  }

  override async alarm(): Promise<void> {
    this.#alarms.rang();
    const nowMs = Date.now();
    this.#sockets.tick(nowMs);
    await this.#acted(nowMs);
  }

  /** Hands an answer to whoever asked, and sends what that caused. */
  async #hand<Result>(answer: Promise<Result>, done: (answer: Result) => void): Promise<void> {
    done(await answer);
    await this.#acted(Date.now());
  }

  async #acted(nowMs: number): Promise<void> {
    this.#settle(nowMs);
    const dueMs = this.#sockets.takeDueAtMs();
    if (!this.#alarms.covers(dueMs)) await this.#alarms.atMost(dueMs);
  }

  /** Sends what was collected, now or by a timer; a pending timer also keeps the object from falling asleep on it. */
  #settle(nowMs: number): void {
    this.#flushTimer.set(this.#gateway.settle(nowMs), nowMs);
  }
}
