import type { Random } from "../../../../support/random.ts";
import { microseconds } from "../../history/clock.ts";
import { Backoff } from "../backoff.ts";
import { Churn } from "../churn.ts";
import {
  backendsRefusal,
  endpointOf,
  isTemporary,
  type SignedToken,
  tokenOf,
  userOf,
} from "../endpoint.ts";
import { OwnCalls } from "../own-calls.ts";
import { OwnPublishing } from "../own-publishing.ts";
import type { AskedPlan, ClientsPlan, SubscriberPlan } from "../plan.ts";
import { type Asked, type AskedPublish, RawCommands } from "./raw-commands.ts";
import { type LinkTraits, type LinkUser, RawLink } from "./raw-link.ts";
import type { ConnectReply, RawReply, SubscribeReply } from "./raw-reply.ts";
import { RawSubscription } from "./raw-subscription.ts";
import type { Subscriber } from "../subscriber.ts";
import type { ClientRecorder } from "../client-recorder.ts";

/** A subscriber without an SDK. It behaves like SDKs, at a cost of a few µs for each publication. */
export class RawSubscriber implements Subscriber, LinkUser {
  readonly process: string;
  /** The user for whom orders are given; undefined for none. */
  readonly #user: string | undefined;
  /** The user, whether orders are given or not. */
  readonly #name: string;
  /** What a backend decides of the client; undefined for nothing. */
  readonly #asked: AskedPlan | undefined;
  readonly #calls: OwnCalls | undefined;
  readonly #linkTraits: LinkTraits;
  readonly #newToken: () => SignedToken;
  #token: SignedToken;
  readonly #random: Random;
  readonly #recorder: ClientRecorder;
  readonly #backoff: Backoff;
  readonly #subscriptions: ReadonlyMap<string, RawSubscription>;
  /** Whether the client's token subscribes it when it connects. */
  readonly #isGiven: boolean;
  /** The channels for which the connect asked to recover. */
  #recovering: ReadonlySet<string> = new Set();
  readonly #publishing: OwnPublishing | undefined;
  readonly #commands = new RawCommands();
  #link: RawLink | undefined;
  /** The connection's ID; undefined until connect was answered. */
  #client: string | undefined;
  /** When to connect; undefined when no connection is wanted. */
  #connectAtMs: number | undefined;
  #nowMs = 0;
  #churn: Churn | undefined;

  constructor(plan: ClientsPlan, traits: SubscriberPlan, random: Random, recorder: ClientRecorder) {
    const { process, channels, publishes, churnMs, pings = false, given = false } = traits;
    const { hostHeader, pingIntervalMs } = plan;
    const { user, orderable = [], asked } = traits;
    const isAsked = asked !== undefined;
    this.process = process;
    this.#user = user;
    this.#name = userOf(traits);
    this.#asked = asked;
    this.#isGiven = given;
    this.#linkTraits = {
      address: endpointOf(plan, traits),
      ...(hostHeader === undefined ? {} : { hostHeader }),
      pings,
      pingIntervalMs,
      mayBeEnded: user !== undefined || isAsked,
    };
    this.#newToken = () => tokenOf(plan, traits, random);
    this.#token = this.#newToken();
    this.#random = random;
    this.#recorder = recorder;
    this.#backoff = new Backoff(random);
    this.#subscriptions = new Map(
      [...channels, ...orderable].map((channel) => {
        const recovery = plan.recovers[channel] ?? "none";
        const isWanted = channels.includes(channel);
        const about = [channel, process, recovery, recorder, isWanted, isAsked] as const;
        return [channel, new RawSubscription(...about)];
      }),
    );
    if (publishes !== undefined) {
      this.#publishing = new OwnPublishing(publishes, process, random, recorder, isAsked);
    }
    if (isAsked) this.#calls = new OwnCalls(process, asked.callsEveryMs, random, recorder);
    if (churnMs !== undefined) this.#churn = new Churn(churnMs, random);
  }

  get subscribed(): number {
    let count = 0;
    for (const { state, isWanted } of this.#subscriptions.values())
      if (state === "attached" && isWanted) count++;
    return count;
  }

  get wanted(): number {
    return [...this.#subscriptions.values()].filter(({ isWanted }) => isWanted).length;
  }

  get isPublishing(): boolean {
    return this.#publishing?.isUnderWay === true;
  }

  start(): void {
    this.#connectAtMs = 0;
  }

  settle(): void {
    this.#churn = undefined;
    this.#publishing?.stop();
    this.#calls?.stop();
  }

  stop(): void {
    this.#connectAtMs = undefined;
    this.#link?.drop();
  }

  tick(nowMs: number): void {
    this.#nowMs = nowMs;
    if (this.#link === undefined) {
      if (this.#connectAtMs !== undefined && nowMs >= this.#connectAtMs) this.#connect();
      return;
    }
    this.#link.tick();
    if (this.#commands.tick()) this.#link?.drop();
    if (this.#client === undefined) return;
    this.#leaveSometimes();
    this.#link.send(this.#subscribes());
    this.#publishSometimes();
    this.#callSometimes();
  }

  opened(): void {
    const user = this.#name;
    if (this.#user !== undefined) this.#token = this.#newToken();
    // Who comes without a token tells the backend of the hooks who it is.
    const credentials =
      this.#asked?.connects === true ? { data: { user } } : { token: this.#token.text };
    const connect = { ...credentials, name: "prove", ...this.#given() };
    const commands = [this.#commands.ask({ method: "connect" }, { connect })];
    // SDKs don't wait for the answer to an unsubscribe. This client waits in half of the cases.
    if (this.#random.chance(0.5)) commands.push(...this.#subscribes());
    this.#link?.send(commands);
  }

  received(line: string, time: number): void {
    const { push, id, ...reply }: RawReply = JSON.parse(line);
    if (push !== undefined) {
      const subscription = this.#subscriptions.get(push.channel);
      if (subscription === undefined) {
        // Orders that end a subscription are told to all connections of the user.
        const isOrder = this.#user !== undefined && push.unsubscribe?.code === revoked;
        if (!isOrder) this.failed(`received a push of ${push.channel} without a subscription`);
      } else if (push.pub !== undefined) subscription.hear(push.pub, time);
      else if (push.subscribe !== undefined) {
        this.#onOrdered(subscription, push.subscribe, time);
      } else if (push.unsubscribe !== undefined) {
        this.#onUnsubscribed(subscription, push.unsubscribe.code, time);
      }
      return;
    }
    const asked = id === undefined ? undefined : this.#commands.take(id);
    if (asked === undefined) this.failed("was answered what it didn't ask");
    else this.#onAnswer(asked, reply, time);
  }

  closed(time: number, code: number): void {
    if (code >= 4_000) this.#checkOrdered(code);
    this.#link = undefined;
    if (this.#client !== undefined) this.#recorder.disconnect(this.process, time, this.#client);
    this.#client = undefined;
    this.#commands.clear();
    for (const subscription of this.#subscriptions.values()) {
      if (this.#isGiven && code === lostStream) subscription.lose(code, time);
      subscription.break(time);
      subscription.askAtMs = 0;
    }
    this.#publishing?.lose(time);
    this.#calls?.lose();
    if (this.#connectAtMs !== undefined) this.#connectAtMs = this.#nowMs + this.#backoff.next();
  }

  /** Only orders and the answers to hooks close connections with codes of a backend. */
  #checkOrdered(code: number): void {
    if (this.#user === undefined && this.#asked === undefined)
      this.failed(`was closed with ${code}`);
  }

  failed(what: string): void {
    this.#connectAtMs = undefined;
    this.#recorder.fail(this.process, what);
  }

  #connect(): void {
    const { process } = this;
    const user = this.#name;
    this.#recorder.record({ time: microseconds(), process, type: "invoke", f: "connect", user });
    this.#link = new RawLink(this.#linkTraits, this);
  }

  #onAnswer(asked: Asked, { error, connect, subscribe, rpc }: RawReply, time: number): void {
    switch (asked.method) {
      case "connect":
        if (connect !== undefined) this.#onConnected(connect, time);
        else {
          this.#failUnlessTemporary("couldn't connect", error);
          this.#link?.drop();
        }
        return;
      case "subscribe": {
        const { subscription, recovers } = asked;
        if (subscribe !== undefined && this.#client !== undefined) {
          subscription.attach(subscribe, recovers, this.#client, time);
          return;
        }
        // An order has ended the subscription before it began.
        const isRevoked = this.#user !== undefined && error?.code === 103;
        if (!isRevoked)
          this.#failUnlessTemporary(`couldn't subscribe to ${subscription.channel}`, error);
        subscription.state = "away";
        subscription.askAtMs = this.#nowMs + this.#backoff.next();
        return;
      }
      case "unsubscribe":
        this.#failUnlessTemporary("couldn't unsubscribe", error);
        // A temporary error leaves open whether the subscription exists; a new connection doesn't.
        if (error !== undefined) this.#link?.drop();
        else asked.subscription.left();
        return;
      case "publish":
        this.#onPublished(asked, error, time);
        return;
      case "rpc":
        if (rpc !== undefined) this.#calls?.answer(rpc.data, time);
        else {
          this.#failUnlessTemporary("couldn't call", error);
          this.#calls?.lose();
        }
    }
  }

  #onConnected({ client, pong, subs }: ConnectReply, time: number): void {
    this.#client = client;
    const { process } = this;
    const user = this.#name;
    const asks = this.#asked?.connects === true ? { asks: true } : {};
    const marks = { ...asks, ...this.#token.marks };
    this.#recorder.record({ time, process, type: "ok", f: "connect", user, client, ...marks });
    for (const subscription of this.#isGiven ? this.#subscriptions.values() : []) {
      const { channel } = subscription;
      const reply = subs?.[channel];
      if (reply === undefined) this.failed(`was not given ${channel}`);
      else subscription.attach(reply, this.#recovering.has(channel), client, time);
    }
    this.#backoff.reset();
    if (this.#link === undefined) return;
    this.#link.answersPings = pong === true;
    this.#link.send(this.#subscribes());
  }

  /** An order has subscribed the client. */
  #onOrdered(subscription: RawSubscription, push: SubscribeReply, time: number): void {
    const { channel, state } = subscription;
    if (this.#user === undefined) this.failed(`was subscribed to ${channel} by a push`);
    // What comes before the reply to the client's unsubscribe belongs to the subscription that it ends.
    if (state === "leaving" || state === "returning") return;
    subscription.attach(push, false, this.#client ?? "", time);
  }

  /** An order has ended a subscription, also one that the client doesn't have. The client subscribes again later. */
  #onRevoked(subscription: RawSubscription, time: number): void {
    const { channel, state } = subscription;
    if (this.#user === undefined) this.failed(`was unsubscribed from ${channel} by an order`);
    if (state === "attached") subscription.revoke(time);
    // A subscribe under way may reach the server after the order: the reply says so.
    if (state === "attached" || state === "away")
      subscription.askAtMs = this.#nowMs + this.#backoff.next();
  }

  #onUnsubscribed(subscription: RawSubscription, code: number, time: number): void {
    if (code === revoked) {
      this.#onRevoked(subscription, time);
      return;
    }
    if (subscription.state !== "attached") return;
    if (code !== 2500) this.failed(`was unsubscribed with ${code} from ${subscription.channel}`);
    subscription.lose(code, time);
    this.#link?.send(this.#subscribes());
  }

  #onPublished({ generation, subscription }: AskedPublish, error: RawReply["error"], time: number) {
    const { state, generation: present } = subscription;
    const wasSubscribed = state === "attached" && present === generation;
    const problem = this.#publishing?.answer(error?.code, wasSubscribed, time);
    if (problem !== undefined) this.failed(problem);
  }

  #failUnlessTemporary(what: string, error: RawReply["error"]): void {
    if (error === undefined || isTemporary(error)) return;
    if (this.#asked !== undefined && error.code === backendsRefusal) return;
    this.failed(`${what}: ${error.code}`);
  }

  /** The connect request's positions in the server-side channels. */
  #given(): object {
    if (!this.#isGiven) return {};
    const recovering = [...this.#subscriptions.values()].filter(({ isRecovering }) => isRecovering);
    this.#recovering = new Set(recovering.map(({ channel }) => channel));
    return {
      subs: Object.fromEntries(recovering.map(({ channel, request }) => [channel, request])),
    };
  }

  /** The subscribe commands for all channels that are due. */
  #subscribes(): object[] {
    const commands: object[] = [];
    if (this.#isGiven) return commands;
    for (const subscription of this.#subscriptions.values()) {
      const { isWanted, state, askAtMs } = subscription;
      if (!isWanted || state !== "away" || this.#nowMs < askAtMs) continue;
      subscription.state = "asking";
      commands.push(this.#subscribe(subscription));
    }
    return commands;
  }

  #subscribe(subscription: RawSubscription): object {
    const { request: subscribe, isRecovering: recovers } = subscription;
    return this.#commands.ask({ method: "subscribe", subscription, recovers }, { subscribe });
  }

  #leaveSometimes(): void {
    if (this.#churn?.isDue(this.#nowMs) !== true) return;
    const subscription = this.#random.pick([...this.#subscriptions.values()]);
    if (subscription.state !== "attached") return;
    const { forgets, awayMs } = this.#churn.next();
    subscription.leave(microseconds(), forgets);
    const unsubscribe = { channel: subscription.channel };
    const commands = [this.#commands.ask({ method: "unsubscribe", subscription }, { unsubscribe })];
    if (awayMs === 0) {
      subscription.state = "returning";
      commands.push(this.#subscribe(subscription));
    } else subscription.askAtMs = this.#nowMs + awayMs;
    this.#link?.send(commands);
  }

  #publishSometimes(): void {
    const publishing = this.#publishing;
    if (publishing === undefined || !publishing.isDue(this.#nowMs)) return;
    const { channel } = publishing;
    const subscription = this.#subscriptions.get(channel);
    if (subscription?.state !== "attached") return;
    const data = publishing.begin(this.#nowMs, microseconds());
    const { generation } = subscription;
    const asked: Asked = { method: "publish", subscription, generation };
    this.#link?.send([this.#commands.ask(asked, { publish: { channel, data } })]);
  }

  #callSometimes(): void {
    const calls = this.#calls;
    if (calls === undefined || !calls.isDue(this.#nowMs)) return;
    const rpc = { method: "echo", data: calls.begin(this.#nowMs) };
    this.#link?.send([this.#commands.ask({ method: "rpc" }, { rpc })]);
  }
}

/** The code with which an order ends a subscription (docs/protocol.md 1.9). */
const revoked = 2000;

/** The code for insufficient state of a server-side subscription (docs/protocol.md 1.8). */
const lostStream = 3010;
