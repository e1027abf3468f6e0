import { disconnectCodes } from "../../../src/protocol/codes.ts";
import type { JsonText } from "../../../src/protocol/json/text.ts";
import { isInexplicable, isOrdersError, isTerminal, unsubscribedByOrder } from "./close-codes.ts";
import { BankCustomer } from "./bank/bank-customer.ts";
import { ClientCalls } from "./client-calls.ts";
import { ClientFrames } from "./client-frames.ts";
import { ClientPings } from "./client-pings.ts";
import { ClientPublishes, replyTimeoutMs, type SentCommand } from "./client-publishes.ts";
import type { WorldContext } from "./world-context.ts";
import type { ReceivedResult, ClientSubscription } from "./client-subscription.ts";
import { isMap } from "./map-kinds.ts";
import { isPassing } from "./pusher/pusher-kinds.ts";
import type { ReceivedFrame, ReceivedPush } from "./received-frame.ts";
import type { ClientEnd, Socket } from "./socket.ts";
import { subscriptionOf } from "./subscription-of.ts";
import { tokenOf } from "./verifier.ts";
import type { ClientToken, WatchedConnection } from "./user-rules.ts";

/** An object that accepts sockets: a gateway, or a channel object. */
interface Place {
  readonly name: string;
  open(client: ClientEnd, keepalive: "client" | "server"): Socket;
}

/** The properties in which a client differs from others. */
export interface ClientTraits {
  readonly name: string;
  /** The user of the client's token; by default the client's own name. */
  readonly user?: string;
  /** The `info` claim of the client's token. */
  readonly info?: JsonText;
  /** Channels that the client's token subscribes it to. */
  readonly given: readonly string[];
  /** The only channel at the client's address, where there is only one. */
  readonly only?: string;
  /** Whether the client drops a connection on which a subscribe isn't answered within 5 s, as SDKs do. */
  readonly reconnectsEarly: boolean;
  /** Whether the server pings the client; otherwise the client pings. */
  readonly isPinged?: boolean;
  /** Chooses the object for each connection. */
  readonly choosePlace: () => Place;
  /** How long the client waits before it reconnects or subscribes again, ms. */
  readonly backoffMs: () => number;
}

/** A client that behaves like an SDK: it reconnects when its connection breaks, and recovers its subscriptions. */
export class WorldClient {
  readonly name: string;
  readonly #context: WorldContext;
  readonly #traits: ClientTraits;
  /** The event in which the frame was sent that is being taken. */
  #frameMoment = 0;
  readonly #subscriptions = new Map<string, ClientSubscription>();
  readonly #waiting = new Map<number, SentCommand["answered"]>();
  readonly #publishes: ClientPublishes;
  readonly calls: ClientCalls;
  readonly bank: BankCustomer;
  readonly frames: ClientFrames;
  readonly pings: ClientPings;
  #connection: Connection | undefined;
  #token: ClientToken | undefined;
  #tokens = 0;
  #isWanted = false;
  #ids = 0;

  constructor(traits: ClientTraits, context: WorldContext) {
    this.name = traits.name;
    this.#traits = traits;
    this.#context = context;
    for (const channel of traits.given) this.subscription(channel);
    this.calls = new ClientCalls(this, context, (command, answered) => {
      if (answered !== undefined) this.#send(command, answered);
      else this.#connection?.socket?.fromClient(JSON.stringify(command));
    });
    this.bank = new BankCustomer(this, context, (command, answered) =>
      this.#send(command, answered),
    );
    this.pings = new ClientPings(() => context.timeline.nowMs);
    this.#publishes = new ClientPublishes(this, context);
    this.frames = new ClientFrames(this, context, this.#publishes, (sent) => this.#sendAll(sent));
  }

  /** The user of the client's token. */
  get user(): string {
    return this.#traits.user ?? this.name;
  }

  /** How long the client waits before it tries again, ms. */
  get backoffMs(): () => number {
    return this.#traits.backoffMs;
  }

  /** The subscriptions that are live as far as the client knows. */
  get live(): readonly ClientSubscription[] {
    return [...this.#subscriptions.values()].filter(({ state }) => state === "on");
  }

  /** The subscriptions that the client wants. */
  get wanted(): readonly ClientSubscription[] {
    if (!this.#isWanted) return [];
    return [...this.#subscriptions.values()].filter(
      ({ wanted, given, isRevoked }) => wanted || (given && !isRevoked),
    );
  }

  /** Whether the server pings the client, and the client answers. */
  get isPinged(): boolean {
    return this.#traits.isPinged === true;
  }

  /** The client's ID and the object that it is connected to, as far as it knows; undefined without a connection. */
  get connected() {
    const { id, place, socket } = this.#connection ?? {};
    return id === undefined || place === undefined ? undefined : { id, place, socket };
  }

  /** How many of the client's commands were not answered. */
  get unanswered(): number {
    return this.#waiting.size;
  }

  /** The client's subscription to a channel. */
  subscription(channel: string): ClientSubscription {
    const known = this.#subscriptions.get(channel);
    if (known !== undefined) return known;
    const given = this.#traits.given.includes(channel);
    const subscription = subscriptionOf(channel, given, {
      who: this.name,
      user: this.user,
      context: this.#context,
      send: (command, answered) => this.#send(command, answered),
      askLater: (work) => this.#context.timeline.after(this.#traits.backoffMs(), work),
      frameMoment: () => this.#frameMoment,
    });
    this.#subscriptions.set(channel, subscription);
    return subscription;
  }

  connect(): void {
    this.#isWanted = true;
    if (this.#connection !== undefined) return;
    const place = this.#traits.choosePlace();
    const none = { id: undefined, socket: undefined, watched: undefined };
    const connection: Connection = { place: place.name, ...none };
    const end: ClientEnd = {
      receive: (frame, moment) => {
        for (const line of frame.split("\n")) this.#takeFrame(connection, line, moment);
      },
      closed: (code) => this.#closed(connection, code),
    };
    this.#connection = connection;
    const subscriptions = this.#traits.given.map((channel) => ({ channel, override: {} }));
    const { info, user = this.name } = this.#traits;
    const token = this.#context.users && this.#currentToken();
    const shown = { ...(info !== undefined && { info }), ...token };
    const claims = { user, expireAtSeconds: 0, subscriptions, ...shown };
    const socket = place.open(end, this.isPinged ? "server" : "client");
    connection.socket = socket;
    connection.watched = this.#watch(user, place.name, socket, token);
    const subs = Object.fromEntries(
      this.#traits.given.map((channel) => [channel, this.subscription(channel).recovering]),
    );
    this.#send({ connect: { token: tokenOf(claims), subs } }, (frame) =>
      this.#onConnect(connection, frame),
    );
  }

  /** The `jti` of the token with which the client connects; undefined before its first connect. */
  get tokenUid(): string | undefined {
    return this.#token?.uid;
  }

  /** A token is used until it is refused. */
  #currentToken(): ClientToken {
    this.#token ??= {
      uid: `${this.name}-${++this.#tokens}`,
      issuedAtSeconds: Math.floor(this.#context.timeline.nowMs / 1_000),
    };
    return this.#token;
  }

  #watch(
    user: string,
    place: string,
    socket: Socket,
    token: ClientToken | undefined,
  ): WatchedConnection | undefined {
    const { only } = this.#traits;
    return this.#context.users?.rules.open({
      user,
      who: this.name,
      place,
      ...(only === undefined ? {} : { only }),
      ...(token === undefined ? {} : { token }),
      socket,
      isSubscribed: (channel) => {
        const { state, leaving } = this.subscription(channel);
        return state !== "off" || leaving > 0;
      },
    });
  }

  disconnect(): void {
    this.#isWanted = false;
    this.#drop();
  }

  subscribe(channel: string): void {
    if (!this.knows(channel)) return;
    const subscription = this.subscription(channel);
    if (subscription.given || subscription.wanted) return;
    subscription.wanted = true;
    this.#ask(subscription);
  }

  /** @param forgets whether the client won't recover when it subscribes again */
  unsubscribe(channel: string, forgets: boolean): void {
    if (!this.knows(channel)) return;
    const subscription = this.subscription(channel);
    if (subscription.given || !subscription.wanted) return;
    subscription.wanted = false;
    const { state } = subscription;
    subscription.end(forgets);
    if (state !== "off") this.#leave(subscription);
  }

  #leave(subscription: ClientSubscription): void {
    const { channel } = subscription;
    const watched = this.#connection?.watched;
    subscription.leaving++;
    this.#send({ unsubscribe: { channel } }, () => {
      watched?.told(channel);
      subscription.leaving--;
    });
  }

  publish(channel: string): void {
    if (this.#connection?.id === undefined || !this.knows(channel)) return;
    this.#sendAll([this.#publishes.publish(channel)]);
  }

  /** Sets a key of a map, or removes it. */
  change(channel: string, key: string, removes: boolean): void {
    if (this.#connection?.id === undefined || !this.knows(channel)) return;
    this.#sendAll([this.#publishes.change(channel, key, removes)]);
  }

  /** Requests presence. The reply needs no check. */
  seePresence(channel: string): void {
    if (this.#connection?.id === undefined || !this.knows(channel)) return;
    this.#send({ presence: { channel } }, ({ error }) => {
      if (error !== undefined && error.temporary !== true)
        this.#complain(`got no presence: ${error.code}`);
    });
  }

  /** Sends a keep-alive text that its object answers. */
  sendKeepalive(): void {
    if (this.#connection?.id !== undefined) this.pings.send(this.#connection.socket);
  }

  /** Whether the client's address has the channel. */
  knows(channel: string): boolean {
    const { only } = this.#traits;
    return only === undefined || only === channel;
  }

  #onConnect(connection: Connection, { connect, error }: ReceivedFrame): void {
    if (connect === undefined) {
      if (error?.temporary !== true) this.#complain(`couldn't connect: ${error?.code}`);
      this.#drop();
      this.#comeBack();
      return;
    }
    connection.id = connect.client;
    this.pings.connected();
    for (const channel of this.#traits.given) {
      const subscription = this.subscription(channel);
      const result = connect.subs?.[channel];
      connection.watched?.told(channel);
      if (result !== undefined)
        subscription.begin(result, subscription.position !== undefined, connect.client);
      // An order may have ended it before it began (rule U2).
      else if (this.#context.users !== undefined) subscription.revoke();
      else this.#complain(`was not subscribed to ${channel}`);
    }
    for (const subscription of this.#subscriptions.values())
      if (subscription.wanted) this.#ask(subscription);
  }

  #ask(subscription: ClientSubscription): void {
    const connection = this.#connection;
    if (connection?.id === undefined || subscription.state !== "off" || !subscription.wanted)
      return;
    const generation = ++subscription.generation;
    subscription.state = "asking";
    subscription.startFlow();
    this.#request(connection, subscription, generation);
  }

  /** Sends the next request for a subscription. */
  #request(connection: Connection, subscription: ClientSubscription, generation: number): void {
    const { channel } = subscription;
    const isAsking = (): boolean =>
      subscription.state === "asking" && subscription.generation === generation;
    let isAnswered = false;
    const askedAtMs = this.#context.timeline.nowMs;
    subscription.asks++;
    this.#send({ subscribe: subscription.request }, ({ subscribe, error }) => {
      isAnswered = true;
      subscription.asks--;
      connection.watched?.told(channel);
      if (!isAsking()) return;
      if (subscribe !== undefined) {
        this.#context.removals.check(this.name, channel, subscribe, askedAtMs);
        const hasBegun = subscription.takeReply(subscribe, connection.id ?? "");
        if (!hasBegun) this.#request(connection, subscription, generation);
        return;
      }
      if (this.#context.users !== undefined && isOrdersError(error?.code)) {
        subscription.revoke();
        return;
      }
      const isExpected = error?.temporary === true || subscription.startsAgain(error?.code ?? 0);
      if (!isExpected) this.#complain(`couldn't subscribe: ${error?.code}`);
      subscription.end();
      this.#askLater(subscription);
    });
    if (!this.#traits.reconnectsEarly) return;
    this.#context.timeline.after(replyTimeoutMs, () => {
      if (isAnswered || !isAsking() || this.#connection !== connection) return;
      this.#drop();
      this.#comeBack();
    });
  }

  #askLater(subscription: ClientSubscription): void {
    this.#context.timeline.after(this.#traits.backoffMs(), () => this.#ask(subscription));
  }

  #takeFrame(connection: Connection, line: string, moment: number): void {
    if (connection !== this.#connection || this.pings.takeAnswer(line)) return;
    const frame: ReceivedFrame = JSON.parse(line);
    this.#frameMoment = moment;
    if (frame.id !== undefined) {
      const answered = this.#waiting.get(frame.id);
      this.#waiting.delete(frame.id);
      if (answered === undefined) this.#complain(`was answered twice: ${line}`);
      answered?.(frame, moment);
    } else if (frame.push !== undefined) this.#takePush(connection, frame.push);
    else if (this.pings.take(line, connection.socket))
      for (const subscription of this.live) subscription.pinged();
  }

  #takePush(
    connection: Connection,
    { channel, pub, join, leave, subscribe, unsubscribe }: ReceivedPush,
  ): void {
    // A refresh push, or the answer to a pong.
    if (channel === undefined || channel === "") return;
    const subscription = this.subscription(channel);
    if (subscribe !== undefined) this.#takeOrdered(connection, subscription, subscribe);
    if (pub !== undefined && !isPassing(pub)) subscription.take(pub);
    if (join !== undefined) subscription.takePresenceEvent("join", join.info.client);
    if (leave !== undefined) subscription.takePresenceEvent("leave", leave.info.client);
    if (unsubscribe?.code === unsubscribedByOrder) this.#revoke(connection, subscription);
    else if (unsubscribe !== undefined) this.#lose(subscription, unsubscribe);
  }

  /** An order subscribes the client (rule U7). */
  #takeOrdered(
    { id = "", watched }: Connection,
    subscription: ClientSubscription,
    result: ReceivedResult,
  ): void {
    const { channel } = subscription;
    const { epoch = "", offset = 0 } = result;
    if (watched === undefined) this.#complain(`was subscribed to ${channel} by a push`);
    const since = watched?.subscribed(channel, { epoch, offset });
    if (subscription.leaving === 0) subscription.beginOrdered(result, since, id);
    else {
      // The client can't tell whether its unsubscribe ended this subscription, too: its reply may have had to wait for
      // that of a publish.
      this.#drop();
      this.#comeBack();
    }
  }

  /** An order ends the client's subscription, if it has one (rule U2). */
  #revoke({ watched }: Connection, subscription: ClientSubscription): void {
    const { channel, state, leaving } = subscription;
    if (watched === undefined) this.#complain(`was unsubscribed from ${channel} by an order`);
    watched?.unsubscribed(channel);
    if (leaving > 0 || state === "off") return;
    subscription.revoke();
    // The client's subscribe may have reached the server after the order.
    if (subscription.asks > 0) this.#leave(subscription);
  }

  #lose(subscription: ClientSubscription, unsubscribe: { readonly code: number }): void {
    this.#connection?.watched?.told(subscription.channel);
    if (subscription.leaving > 0) return;
    if (unsubscribe.code !== 2500) this.#complain(`was unsubscribed with ${unsubscribe.code}`);
    subscription.lose(unsubscribe.code);
    this.#askLater(subscription);
  }

  #closed(connection: Connection, code: number): void {
    if (connection !== this.#connection) return;
    // 3008: the client synchronised a map for too long.
    const wasStalled = connection.socket?.wasStalled === true;
    const isSilent = code === disconnectCodes.noPong.code && wasStalled;
    const isExpected =
      isSilent || code === 1006 || code === 3010 || connection.watched !== undefined;
    const isTooLong = code === disconnectCodes.slow.code && this.#hasMaps;
    if (!isTooLong && (!isExpected || (isInexplicable(code) && !isSilent)))
      this.#complain(`was closed with ${code}`);
    connection.watched?.closed(code);
    if (code === 3010) {
      for (const subscription of this.live) {
        if (subscription.given || subscription.isOrdered) subscription.lose(code);
      }
    }
    if (code === disconnectCodes.invalidToken.code) this.#token = undefined;
    if (isTerminal(code)) this.#isWanted = false;
    this.#forgetConnection();
    this.#comeBack();
  }

  get #hasMaps(): boolean {
    return [...this.#subscriptions.keys()].some(isMap);
  }

  #comeBack(): void {
    this.#context.timeline.after(this.#traits.backoffMs(), () => {
      if (this.#isWanted) this.connect();
    });
  }

  /** Ends the subscriptions that are neither live nor wanted. */
  giveUp(): void {
    for (const subscription of this.#subscriptions.values()) {
      if (!this.wanted.includes(subscription) && !subscription.isOrdered) subscription.end(true);
    }
  }

  /** The connection breaks; both ends notice. */
  breakLine(): void {
    this.#connection?.socket?.break();
  }

  #drop(): void {
    this.#connection?.socket?.leave();
    this.#connection?.watched?.closed();
    this.#forgetConnection();
  }

  #forgetConnection(): void {
    this.#connection = undefined;
    this.#waiting.clear();
    this.#publishes.forget();
    this.pings.forget();
    for (const subscription of this.#subscriptions.values()) {
      // The next connection doesn't have a subscription that an order made.
      subscription.end(subscription.isOrdered);
      subscription.leaving = 0;
      subscription.asks = 0;
    }
  }

  #send(command: object, answered: SentCommand["answered"]): void {
    this.#sendAll([{ command, answered }]);
  }

  /** Sends commands in one frame. */
  #sendAll(commands: readonly SentCommand[]): void {
    const lines = commands.map(({ command, answered }) => {
      const id = ++this.#ids;
      this.#waiting.set(id, answered);
      return JSON.stringify({ id, ...command });
    });
    this.#connection?.socket?.fromClient(lines.join("\n"));
  }

  #complain(what: string): void {
    this.#context.publicationLog.complain(`${this.name} ${what}`);
  }
}

interface Connection {
  readonly place: string;
  /** Absent until connect was answered. */
  id: string | undefined;
  socket: Socket | undefined;
  /** Undefined where users have no homes. */
  watched: WatchedConnection | undefined;
}
