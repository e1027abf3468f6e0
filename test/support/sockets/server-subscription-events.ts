import type {
  Centrifuge,
  ServerJoinContext,
  ServerLeaveContext,
  ServerPublicationContext,
  ServerSubscribedContext,
  ServerSubscribingContext,
  ServerUnsubscribedContext,
} from "centrifuge";
import { Inbox } from "../inbox.ts";
import type { TestData } from "../servers/test-backend.ts";

/** The official client's events about server-side subscriptions. */
export class ServerSubscriptionEvents {
  readonly subscribing = new Inbox<ServerSubscribingContext>();
  readonly subscribed = new Inbox<ServerSubscribedContext>();
  readonly unsubscribed = new Inbox<ServerUnsubscribedContext>();
  readonly publications = new Inbox<ServerPublicationContext>();
  readonly joins = new Inbox<ServerJoinContext>();
  readonly leaves = new Inbox<ServerLeaveContext>();
  /** The kind of each event with its channel, in order. */
  readonly eventLog: string[] = [];

  /** @param client must not be connected yet */
  constructor(client: Centrifuge) {
    client.on("subscribing", (context) => this.#note("subscribing", this.subscribing, context));
    client.on("subscribed", (context) => this.#note("subscribed", this.subscribed, context));
    client.on("unsubscribed", (context) => this.#note("unsubscribed", this.unsubscribed, context));
    client.on("publication", (context) => this.#note("publication", this.publications, context));
    client.on("join", (context) => this.#note("join", this.joins, context));
    client.on("leave", (context) => this.#note("leave", this.leaves, context));
  }

  /** The data of all publications of a channel, in the order in which they came. */
  dataOf(channel: string): readonly TestData[] {
    const own = this.publications.all.filter((publication) => publication.channel === channel);
    return own.map(({ data }) => data);
  }

  #note<Context extends { readonly channel: string }>(
    kind: string,
    inbox: Inbox<Context>,
    context: Context,
  ): void {
    this.eventLog.push(`${kind} ${context.channel}`);
    inbox.push(context);
  }
}
