import {
  Centrifuge,
  type ConnectedContext,
  type ConnectingContext,
  type DisconnectedContext,
  type ErrorContext,
  type JoinContext,
  type LeaveContext,
  type Options,
  type PublicationContext,
  type SubscribedContext,
  type SubscribingContext,
  type Subscription,
  type SubscriptionErrorContext,
  type SubscriptionOptions,
  type TransportEndpoint,
  type UnsubscribedContext,
} from "centrifuge";
import { Inbox } from "../inbox.ts";
import { ServerSubscriptionEvents } from "./server-subscription-events.ts";

/** The official client, and all its events. */
export class SdkClient {
  readonly client: Centrifuge;
  readonly connecting = new Inbox<ConnectingContext>();
  readonly connected = new Inbox<ConnectedContext>();
  readonly disconnected = new Inbox<DisconnectedContext>();
  /** Attempts that failed, and will be repeated. */
  readonly errors = new Inbox<ErrorContext>();
  readonly serverSide: ServerSubscriptionEvents;

  /**
   * Connects at once.
   *
   * @param Build one of the SDK's builds, which differ only in their codec
   */
  constructor(
    address: string | TransportEndpoint[],
    options: Partial<Options>,
    Build: typeof Centrifuge = Centrifuge,
  ) {
    // A tenth of the SDK's own delays: no test is about them. And it waits as long as a test does: its own 5 s for an answer,
    // and 10 s for a ping, a busy machine sometimes needs for a hundred subscribes.
    this.client = new Build(address, {
      minReconnectDelay: 50,
      maxReconnectDelay: 500,
      timeout: 60_000,
      maxServerPingDelay: 60_000,
      ...options,
    });
    this.serverSide = new ServerSubscriptionEvents(this.client);
    this.client.on("connecting", (context) => this.connecting.push(context));
    this.client.on("connected", (context) => this.connected.push(context));
    this.client.on("disconnected", (context) => this.disconnected.push(context));
    this.client.on("error", (context) => this.errors.push(context));
    this.client.connect();
  }

  /** Subscribes, without waiting for the answer. */
  subscribe(channel: string, options: Partial<SubscriptionOptions> = {}): SdkSubscription {
    return new SdkSubscription(this.client.newSubscription(channel, options));
  }

  /** Subscribes and waits until that is done. */
  async subscribed(channel: string, options: Partial<SubscriptionOptions> = {}) {
    const subscription = this.subscribe(channel, options);
    await subscription.subscribed.count(1);
    return subscription;
  }

  /** How often the connection was lost, or refused, and the client tried again. */
  get reconnects(): number {
    return this.connecting.all.length - 1;
  }

  close(): void {
    this.client.disconnect();
  }
}

/** A subscription of the official client, and all its events. */
export class SdkSubscription {
  readonly subscription: Subscription;
  readonly subscribing = new Inbox<SubscribingContext>();
  readonly subscribed = new Inbox<SubscribedContext>();
  readonly unsubscribed = new Inbox<UnsubscribedContext>();
  readonly publications = new Inbox<PublicationContext>();
  readonly joins = new Inbox<JoinContext>();
  readonly leaves = new Inbox<LeaveContext>();
  readonly errors = new Inbox<SubscriptionErrorContext>();
  /** The kind of each event, in the order in which they came. */
  readonly eventLog: string[] = [];

  constructor(subscription: Subscription) {
    this.subscription = subscription;
    subscription.on("subscribing", (context) =>
      this.#note("subscribing", this.subscribing, context),
    );
    subscription.on("subscribed", (context) => this.#note("subscribed", this.subscribed, context));
    subscription.on("unsubscribed", (context) =>
      this.#note("unsubscribed", this.unsubscribed, context),
    );
    subscription.on("publication", (context) =>
      this.#note("publication", this.publications, context),
    );
    subscription.on("join", (context) => this.#note("join", this.joins, context));
    subscription.on("leave", (context) => this.#note("leave", this.leaves, context));
    subscription.on("error", (context) => this.#note("error", this.errors, context));
    subscription.subscribe();
  }

  /** The offsets of all publications that came, in the order in which they came. */
  get offsets(): readonly (number | undefined)[] {
    return this.publications.all.map(({ offset }) => offset);
  }

  #note<Context>(kind: string, inbox: Inbox<Context>, context: Context): void {
    this.eventLog.push(kind);
    inbox.push(context);
  }
}
