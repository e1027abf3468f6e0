import { errorCodes } from "../../src/protocol/codes.ts";
import type { JsonText } from "../../src/protocol/json/text.ts";
import type { WorldContext } from "./world-context.ts";
import {
  type ReceivedPublication,
  type ReceivedResult,
  ClientSubscription,
} from "./client-subscription.ts";
import type { ClientEnd, Socket } from "./socket.ts";
import type { ConnectionClaims } from "../../src/access/claims.ts";

/** An object that accepts sockets: a gateway, or a channel object. */
interface Place {
  readonly name: string;
  open(client: ClientEnd, claims: ConnectionClaims): Socket;
}

/** The properties in which a client differs from others. */
export interface ClientTraits {
  readonly name: string;
  /** The `info` claim of the client's token. */
  readonly info?: JsonText;
  /** Channels that the client's token subscribes it to. */
  readonly given: readonly string[];
  /** The only channel at the client's address, where there is only one. */
  readonly only?: string;
  /** Whether the client drops a connection on which a subscribe isn't answered within 5 s, as SDKs do. */
  readonly reconnectsEarly: boolean;
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
  readonly #subscriptions = new Map<string, ClientSubscription>();
  readonly #waiting = new Map<number, (frame: ReceivedFrame) => void>();
  /** Publishes without an answer yet: their data and channels. */
  readonly #publishing = new Map<string, string>();
  #connection: Connection | undefined;
  #isWanted = false;
  #ids = 0;
  #published = 0;

  constructor(traits: ClientTraits, context: WorldContext) {
    this.name = traits.name;
    this.#traits = traits;
    this.#context = context;
    for (const channel of traits.given) this.subscription(channel);
  }

  /** The subscriptions that are live as far as the client knows. */
  get live(): readonly ClientSubscription[] {
    return [...this.#subscriptions.values()].filter(({ state }) => state === "on");
  }

  /** The subscriptions that the client wants. */
  get wanted(): readonly ClientSubscription[] {
    if (!this.#isWanted) return [];
    return [...this.#subscriptions.values()].filter(({ wanted, given }) => wanted || given);
  }

  /** The client's ID and the object that it is connected to; undefined without a connection. */
  get connected(): { readonly id: string; readonly place: string } | undefined {
    const { id, place } = this.#connection ?? {};
    return id === undefined || place === undefined ? undefined : { id, place };
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
    const { publicationLog, eventLog } = this.#context;
    const subscription = new ClientSubscription(
      channel,
      given,
      this.name,
      publicationLog,
      eventLog,
    );
    this.#subscriptions.set(channel, subscription);
    return subscription;
  }

  connect(): void {
    this.#isWanted = true;
    if (this.#connection !== undefined) return;
    const place = this.#traits.choosePlace();
    const connection: Connection = { place: place.name, id: undefined, socket: undefined };
    const end: ClientEnd = {
      receive: (frame) => {
        for (const line of frame.split("\n")) this.#takeFrame(connection, line);
      },
      closed: (code) => this.#closed(connection, code),
    };
    this.#connection = connection;
    const subscriptions = this.#traits.given.map((channel) => ({ channel, override: {} }));
    const { info } = this.#traits;
    const shown = info === undefined ? {} : { info };
    const claims = { user: this.name, expireAtSeconds: 0, subscriptions, ...shown };
    connection.socket = place.open(end, claims);
    const subs = Object.fromEntries(
      this.#traits.given.map((channel) => [channel, recovering(this.subscription(channel))]),
    );
    this.#send({ connect: { subs } }, (frame) => this.#onConnect(connection, frame));
  }

  disconnect(): void {
    this.#isWanted = false;
    this.#drop();
  }

  subscribe(channel: string): void {
    if (!this.#knows(channel)) return;
    const subscription = this.subscription(channel);
    if (subscription.given || subscription.wanted) return;
    subscription.wanted = true;
    this.#ask(subscription);
  }

  /** @param forgets whether the client won't recover when it subscribes again */
  unsubscribe(channel: string, forgets: boolean): void {
    if (!this.#knows(channel)) return;
    const subscription = this.subscription(channel);
    if (subscription.given || !subscription.wanted) return;
    subscription.wanted = false;
    const { state } = subscription;
    subscription.end(forgets);
    if (state === "off") return;
    subscription.leaving++;
    this.#send({ unsubscribe: { channel } }, () => {
      subscription.leaving--;
    });
  }

  publish(channel: string): void {
    if (this.#connection?.id === undefined || !this.#knows(channel)) return;
    const data = `${this.name}-${++this.#published}`;
    const { process } = this.subscription(channel);
    const publish = { process, f: "publish", channel, value: data } as const;
    const { eventLog } = this.#context;
    eventLog.note({ ...publish, type: "invoke" });
    this.#publishing.set(data, channel);
    const sentAtMs = this.#context.timeline.nowMs;
    this.#send({ publish: { channel, data } }, ({ error }) => {
      this.#publishing.delete(data);
      // SDKs have given up by then, and a publication that isn't delivered within 10 s no longer delays the reply (rule
      // B4).
      const isLate = this.#context.timeline.nowMs - sentAtMs >= replyTimeoutMs;
      const isUnknown = isLate || error?.code === errorCodes.internal.code;
      const type = isUnknown ? "info" : error === undefined ? "ok" : "fail";
      eventLog.note({ ...publish, type });
    });
  }

  /** Requests presence. The reply needs no check. */
  seePresence(channel: string): void {
    if (this.#connection?.id === undefined || !this.#knows(channel)) return;
    this.#send({ presence: { channel } }, ({ error }) => {
      if (error !== undefined && error.temporary !== true)
        this.#complain(`got no presence: ${error.code}`);
    });
  }

  #knows(channel: string): boolean {
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
    for (const channel of this.#traits.given) {
      const subscription = this.subscription(channel);
      const result = connect.subs?.[channel];
      if (result === undefined) this.#complain(`was not subscribed to ${channel}`);
      else subscription.begin(result, subscription.position !== undefined, connect.client);
    }
    for (const subscription of this.#subscriptions.values())
      if (subscription.wanted) this.#ask(subscription);
  }

  #ask(subscription: ClientSubscription): void {
    const connection = this.#connection;
    if (connection?.id === undefined || subscription.state !== "off" || !subscription.wanted)
      return;
    const { channel } = subscription;
    const generation = ++subscription.generation;
    subscription.state = "asking";
    const request = { channel, ...recovering(subscription) };
    const isAsking = (): boolean =>
      subscription.state === "asking" && subscription.generation === generation;
    this.#send({ subscribe: request }, ({ subscribe, error }) => {
      if (!isAsking()) return;
      if (subscribe !== undefined) {
        subscription.begin(subscribe, subscription.position !== undefined, connection.id ?? "");
        return;
      }
      if (error?.temporary !== true) this.#complain(`couldn't subscribe: ${error?.code}`);
      subscription.end();
      this.#askLater(subscription);
    });
    if (!this.#traits.reconnectsEarly) return;
    this.#context.timeline.after(replyTimeoutMs, () => {
      if (!isAsking() || this.#connection !== connection) return;
      this.#drop();
      this.#comeBack();
    });
  }

  #askLater(subscription: ClientSubscription): void {
    this.#context.timeline.after(this.#traits.backoffMs(), () => this.#ask(subscription));
  }

  #takeFrame(connection: Connection, line: string): void {
    if (connection !== this.#connection) return;
    const frame: ReceivedFrame = JSON.parse(line);
    if (frame.id !== undefined) {
      const answered = this.#waiting.get(frame.id);
      this.#waiting.delete(frame.id);
      if (answered === undefined) this.#complain(`was answered twice: ${line}`);
      answered?.(frame);
    } else if (frame.push !== undefined) this.#takePush(frame.push);
  }

  #takePush({ channel, pub, join, leave, unsubscribe }: ReceivedPush): void {
    const subscription = this.subscription(channel);
    if (pub !== undefined) subscription.take(pub);
    if (join !== undefined) subscription.takePresenceEvent("join", join.info.client);
    if (leave !== undefined) subscription.takePresenceEvent("leave", leave.info.client);
    if (unsubscribe === undefined || subscription.leaving > 0) return;
    if (unsubscribe.code !== 2500) this.#complain(`was unsubscribed with ${unsubscribe.code}`);
    subscription.lose(unsubscribe.code);
    this.#askLater(subscription);
  }

  #closed(connection: Connection, code: number): void {
    if (connection !== this.#connection) return;
    if (code !== 1006 && code !== 3010) this.#complain(`was closed with ${code}`);
    if (code === 3010) {
      for (const subscription of this.live) if (subscription.given) subscription.lose(code);
    }
    this.#forgetConnection();
    this.#comeBack();
  }

  #comeBack(): void {
    this.#context.timeline.after(this.#traits.backoffMs(), () => {
      if (this.#isWanted) this.connect();
    });
  }

  /** Ends the subscriptions that are neither live nor wanted. */
  giveUp(): void {
    for (const subscription of this.#subscriptions.values()) {
      if (!this.wanted.includes(subscription)) subscription.end(true);
    }
  }

  /** The connection breaks; both ends notice. */
  breakLine(): void {
    this.#connection?.socket?.break();
  }

  #drop(): void {
    this.#connection?.socket?.leave();
    this.#forgetConnection();
  }

  #forgetConnection(): void {
    this.#connection = undefined;
    this.#waiting.clear();
    for (const [value, channel] of this.#publishing) {
      const publish = { process: this.name, f: "publish", channel, value } as const;
      this.#context.eventLog.note({ ...publish, type: "info" });
    }
    this.#publishing.clear();
    for (const subscription of this.#subscriptions.values()) {
      subscription.end();
      subscription.leaving = 0;
    }
  }

  #send(command: object, answered: (frame: ReceivedFrame) => void): void {
    const id = ++this.#ids;
    this.#waiting.set(id, answered);
    this.#connection?.socket?.fromClient(JSON.stringify({ id, ...command }));
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
}

interface ReceivedFrame {
  readonly id?: number;
  readonly error?: { readonly code: number; readonly temporary?: boolean };
  readonly connect?: {
    readonly client: string;
    readonly subs?: Readonly<Record<string, ReceivedResult>>;
  };
  readonly subscribe?: ReceivedResult;
  readonly push?: ReceivedPush;
}

interface ReceivedPush {
  readonly channel: string;
  readonly pub?: ReceivedPublication;
  readonly join?: { readonly info: { readonly client: string } };
  readonly leave?: { readonly info: { readonly client: string } };
  readonly unsubscribe?: { readonly code: number };
}

/** The fields of a subscribe request that ask to recover. */
function recovering({ position }: ClientSubscription): object {
  return position === undefined ? {} : { recover: true, ...position };
}

/** How long SDKs wait for a reply. */
const replyTimeoutMs = 5_000;
