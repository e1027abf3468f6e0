import { Records } from "../../support/records.ts";
import type { ConnectionAccepted, EventTaken } from "./history-event.ts";
import type { Violations } from "./violations.ts";

/**
 * Compares the connections and subscriptions of which a backend was told with those that clients saw (rules E8 and E9).
 * A client doesn't see those whose reply it never got, so there may be more of them.
 */
export class ToldConnections {
  readonly #violations: Violations;
  readonly #connections = new Records(newConnection);

  constructor(violations: Violations) {
    this.#violations = violations;
  }

  /** The users of all connections that clients saw. */
  get users(): ReadonlySet<string> {
    const users = new Set<string>();
    for (const { seenUser } of this.#connections.values())
      if (seenUser !== undefined) users.add(seenUser);
    return users;
  }

  /** A client was let in. */
  connect({ client, user, process }: ConnectionAccepted): void {
    const connection = this.#connections.of(client);
    connection.seenUser = user;
    connection.process = process;
  }

  /** A client's connection has ended. */
  disconnect(client: string): void {
    const connection = this.#connections.get(client);
    if (connection !== undefined) connection.hasEnded = true;
  }

  /** A client was subscribed. */
  subscribe(client: string, channel: string): void {
    this.#connections.of(client).subscriptions.of(channel).seen++;
  }

  /** The backend is told of the beginning or the end of a connection or a subscription. */
  take(event: EventTaken): void {
    const { client = "", channel = "" } = event;
    const connection = this.#connections.of(client);
    connection.object ??= event.object;
    if (connection.object !== event.object)
      this.#mistold(event, `was told by ${connection.object} before`);
    const { toldUser } = connection;
    if (toldUser !== undefined && event.user !== toldUser)
      this.#mistold(event, `was told to be ${toldUser}`);
    switch (event.event) {
      case "connected":
        this.#connected(connection, event);
        break;
      case "disconnected":
        this.#disconnected(connection, event);
        break;
      case "subscribed": {
        const subscription = this.#connections.of(client).subscriptions.of(channel);
        if (connection.state !== "connected") this.#mistold(event, "isn't connected");
        if (subscription.isOpen) this.#mistold(event, "was subscribed before");
        subscription.told++;
        subscription.isOpen = true;
        break;
      }
      default: {
        const subscription = this.#connections.of(client).subscriptions.of(channel);
        if (!subscription.isOpen) this.#mistold(event, "wasn't subscribed");
        subscription.isOpen = false;
      }
    }
  }

  /** Everything has settled, and the client is present on a channel. */
  present(client: string, channel: string, time: number): void {
    const connection = this.#connections.of(client);
    const { process, state } = connection;
    // A socket that the server still holds may be one whose client is gone.
    if (connection.hasEnded) return;
    if (state !== "connected")
      this.#untold(process, time, `${client} is connected, and was told to be ${state}`);
    else if (connection.subscriptions.get(channel)?.isOpen !== true)
      this.#untold(process, time, `${client} is subscribed to ${channel}, and wasn't told to be`);
  }

  /** All connections have ended, and the backend has had the time to be told. */
  checkEnds(process: string, time: number): void {
    for (const [client, { state, seenUser, subscriptions }] of this.#connections) {
      const isSeen = seenUser !== undefined;
      if (state === "new" && isSeen)
        this.#untold(process, time, `${client} of ${seenUser} was never told to be connected`);
      if (state === "connected")
        this.#untold(process, time, `${client} was never told to be disconnected`);
      for (const [channel, { seen, told, isOpen }] of subscriptions) {
        const what = `${client} was subscribed to ${channel}`;
        if (told < seen)
          this.#untold(process, time, `${what} ${seen} times, and told ${told} times`);
        if (isOpen) this.#untold(process, time, `${what}, and was never told to be unsubscribed`);
      }
    }
  }

  #connected(connection: ConnectionRecord, event: EventTaken): void {
    const { seenUser = event.user, state } = connection;
    if (state !== "new") this.#mistold(event, `was told to be ${state} before`);
    if (event.user !== seenUser) this.#mistold(event, `is ${seenUser}`);
    connection.state = "connected";
    connection.toldUser = event.user;
  }

  #disconnected(connection: ConnectionRecord, event: EventTaken): void {
    const { state, subscriptions } = connection;
    if (state !== "connected") this.#mistold(event, `was told to be ${state} before`);
    for (const [channel, { isOpen }] of subscriptions)
      if (isOpen) this.#mistold(event, `is still subscribed to ${channel}`);
    connection.state = "disconnected";
  }

  #mistold(event: EventTaken, why: string): void {
    const { object, number, client = "", user = "", channel = "", process, time } = event;
    const text = `${event.event} ${client} of ${user} (${object}, ${number}): it ${why}`;
    this.#violations.add({ kind: "mistold", channel, process, time, text });
  }

  #untold(process: string, time: number, text: string): void {
    this.#violations.add({ kind: "untold", channel: "", process, time, text });
  }
}

function newConnection(): ConnectionRecord {
  return {
    process: "",
    seenUser: undefined,
    toldUser: undefined,
    hasEnded: false,
    object: undefined,
    state: "new",
    subscriptions: new Records(() => ({ seen: 0, told: 0, isOpen: false })),
  };
}

/** A connection as its client saw it, and as the backend was told of it. */
interface ConnectionRecord {
  process: string;
  /** Undefined if its client got no reply to its connect. */
  seenUser: string | undefined;
  toldUser: string | undefined;
  /** Whether its client has noticed its end. */
  hasEnded: boolean;
  /** Whose events tell of it. */
  object: string | undefined;
  state: "new" | "connected" | "disconnected";
  readonly subscriptions: Records<SubscriptionEvents>;
}

/** The subscriptions of one connection to one channel, one after the other. */
interface SubscriptionEvents {
  /** How many the client saw, and of how many the backend was told. */
  seen: number;
  told: number;
  /** Whether the backend was told that there is one. */
  isOpen: boolean;
}
