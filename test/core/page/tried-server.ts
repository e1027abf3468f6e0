import { Channel } from "../../../src/channel/channel.ts";
import { resolveChannel } from "../../../src/channel/channel-name.ts";
import { SharedPresence } from "../../../src/channel/shared-presence.ts";
import type { Config } from "../../../src/config/config.ts";
import type { ClientOperation } from "../../../src/contract/channel-call.ts";
import { KnownDeltas } from "../../../src/delta/delta-chain.ts";
import { cursorMethodsOf } from "../../../src/features/cursors/client-methods.ts";
import { BackendApprover } from "../../../src/features/hooks/approver.ts";
import { featuredChannels, subscriptionTypes } from "../../../src/features/index.ts";
import { appendMethodsOf } from "../../../src/features/maps/growth/client-method.ts";
import type { Tracking } from "../../../src/features/shared-polls/tracking.ts";
import { Backlog } from "../../../src/hub/backlog.ts";
import { joinedMethods } from "../../../src/object/client-methods.ts";
import type { Channels } from "../../../src/session/channels.ts";
import { NamedChannels } from "../../../src/session/named-channels.ts";
import type { Connection, SessionContext, VerifiedTokens } from "../../../src/session/ports.ts";
import { Session } from "../../../src/session/session.ts";
import { SingleChannel } from "../../../src/session/single-channel.ts";
import { textOf } from "../../support/text-of.ts";
import { jsonCodec } from "../../../src/protocol/json/codec.ts";
import { NodeSql } from "../../../package/test/node-sql.ts";
import { startMs } from "../session/channel-fixture.ts";
import { ScriptedBackend } from "../session/scripted-backend.ts";

/** What became of a command: done, refused with an error, or decided by a backend. */
export type Outcome = "yes" | "no" | "asks";

/**
 * Sessions with real channels of a configuration, all in one place, and backends that refuse all they are asked. Each
 * session has a moment of its own, so that none is in the way of another one's rates.
 */
export class TriedServer {
  readonly #config: Config;
  readonly #backend = new ScriptedBackend(() => this.#nowMs);
  readonly #channels = new Map<string, { channel: Channel; served: SingleChannel }>();
  readonly #turns: (() => void)[] = [];
  readonly #context: SessionContext;
  /** The reasons of all refusals, as the log has them. */
  readonly reasons: string[] = [];
  #nowMs = startMs;
  #clients = 0;
  #commands = 0;

  constructor(config: Config) {
    this.#config = config;
    this.#context = this.#newContext();
  }

  /** A client that has connected with these tokens. */
  connect(tokens: VerifiedTokens): TriedClient {
    this.#nowMs += 60_000;
    const client = new TriedClient(`c${++this.#clients}`, this.#context, this.#nowMs);
    const reply = this.#send(client, { connect: {} }, tokens);
    if (reply === undefined || "error" in reply) throw new Error("the client can't connect");
    return client;
  }

  /** Has a client send a command. An error that isn't about permissions throws. */
  try(client: TriedClient, command: object, tokens: VerifiedTokens = {}): Outcome {
    const reply = this.#send(client, command, tokens);
    if (this.#backend.takeAsked().length > 0) return "asks";
    if (reply === undefined) throw new Error(`no answer to ${JSON.stringify(command)}`);
    if (reply.error === undefined) return "yes";
    if (!refusals.has(reply.error.code))
      throw new Error(`${JSON.stringify(command)} is answered ${reply.error.code}`);
    return "no";
  }

  /** Has a channel carry out an operation of a backend. */
  carryOut(name: string, operation: ClientOperation): void {
    this.#served(name).served.request(name, operation, undefined, this.#nowMs, () => undefined);
  }

  /** @returns the reply; undefined if there is none */
  #send(
    { session, sent }: TriedClient,
    command: object,
    tokens: VerifiedTokens,
  ): Reply | undefined {
    const id = ++this.#commands;
    const { commands } = jsonCodec.decodeFrame(JSON.stringify({ id, ...command }));
    for (const one of commands) session.receive(one, tokens, this.#nowMs);
    for (let turn = this.#turns.shift(); turn !== undefined; turn = this.#turns.shift()) turn();
    while (this.#backend.pending > 0)
      this.#backend.answer({ error: { code: 1_000, message: "no" } });
    const lines = sent.splice(0).flatMap((frame) => frame.split("\n"));
    const own = lines.find((line) => line.startsWith(`{"id":${id},`));
    return own === undefined ? undefined : JSON.parse(own);
  }

  #served(name: string): { readonly channel: Channel; readonly served: SingleChannel } {
    const known = this.#channels.get(name);
    if (known !== undefined) return known;
    const { client, channel: config } = this.#config;
    const resolved = resolveChannel(name, config);
    if (resolved.outcome !== "resolved") throw new Error(`there is no channel ${name}`);
    const { options } = resolved;
    const [nowMs, sql] = [this.#nowMs, new NodeSql()];
    const features = featuredChannels(this.#config);
    const epochs = { newEpoch: () => "epoch", instance: nowMs, nowMs };
    const channel = new Channel({ name, options, client, sql, ...epochs, features });
    const presence = new SharedPresence({
      later: (_, work) => this.#turns.push(work),
      gather: (done) => done({ clients: [], complete: true }),
      subscribers: () => channel.hub.subscribers,
    });
    const served = new SingleChannel(channel, config, presence, () => this.#nowMs);
    const made = { channel, served };
    this.#channels.set(name, made);
    return made;
  }

  #newContext(): SessionContext {
    const config = this.#config;
    const methods = [appendMethodsOf(config), cursorMethodsOf(config)];
    const clientMethods = joinedMethods(methods.filter((some) => some !== undefined));
    const served = (name: string): SingleChannel => this.#served(name).served;
    const channels: Channels = {
      parts: [trackedPolls],
      resolve: (name) => resolveChannel(name, config.channel),
      subscribe: (one, ...rest) => served(one.channel).subscribe(one, ...rest),
      restore: (one) => served(one.channel).restore(one),
      announce: (one) => served(one.channel).announce(one),
      unsubscribe: (one) => served(one.channel).unsubscribe(one),
      request: (name, ...rest) => served(name).request(name, ...rest),
      presence: (name, question) => served(name).presence(name, question),
      position: (name) => served(name).position(),
      catchUp: (one) => served(one.channel).catchUp(one),
    };
    return {
      config,
      channels,
      namedChannels: new NamedChannels(1_000),
      refused: ({ reason }) => this.reasons.push(reason),
      approver: new BackendApprover(this.#backend.hooks),
      backlog: new Backlog({ sockets: () => [], nowMs: () => this.#nowMs }),
      subscriptionTypes,
      ...(clientMethods && { clientMethods }),
      knownDeltas: new KnownDeltas(),
      version: "test",
      node: "gateway:eu/1",
      serverSubscriptions: true,
      storesRows: true,
    };
  }
}

/** A client's session, with what it was sent. Nothing is saved. */
export class TriedClient {
  readonly session: Session;
  readonly sent: string[] = [];

  constructor(client: string, context: SessionContext, openedAtMs: number) {
    const connection: Connection = {
      send: (frame) => this.sent.push(textOf(frame)),
      close: ({ code }) => this.sent.push(`close ${code}`),
      hold: () => undefined,
      release: () => undefined,
      save: () => undefined,
      backlogBytes: () => 0,
      answeredAtMs: () => undefined,
      lastHeardMs: () => undefined,
    };
    const fresh = { phase: "new", client, openedAtMs, keepalive: "server" } as const;
    this.session = new Session({ ...fresh, subscriptions: [] }, connection, context);
  }
}

/** The errors that mean that a client may not: permission denied, bad request, not available. */
const refusals: ReadonlySet<number> = new Set([103, 107, 108]);

/** Lets clients subscribe to shared polls, whose backends aren't asked. */
const trackedPolls: Tracking = {
  epoch: (_channel, _nowMs, done) => done({ outcome: "tracking", epoch: "e" }),
  track: (_subscription, _keys, _nowMs, done) => done({ outcome: "tracking", newer: [] }),
  untrack: () => undefined,
};

interface Reply {
  readonly error?: { readonly code: number };
}
