import type { ReceivedFrame } from "./received-frame.ts";
import type { WorldContext } from "./world-context.ts";
import type { StreamPosition } from "../../../src/protocol/publication.ts";
import type { EventLog } from "./event-log.ts";
import type { PublicationLog } from "./publication-log.ts";

/** A publication as the client received it. */
export interface ReceivedPublication {
  readonly data: unknown;
  readonly offset?: number;
  /** The key that was changed, on a map, and whether it was removed. */
  readonly key?: string;
  readonly removed?: boolean;
  readonly tags?: Readonly<Record<string, string>>;
  /** On a presence map: the client that the key stands for. */
  readonly info?: { readonly client?: string };
  /** Of a shared poll: the version of the key, and whether the data is a delta. */
  readonly version?: number;
  readonly delta?: boolean;
  /** The first publication of a stream names it. */
  readonly epoch?: string;
}

/** The result of a subscribe as the client received it. */
export interface ReceivedResult {
  readonly epoch?: string;
  readonly offset?: number;
  readonly recovered?: boolean;
  readonly positioned?: boolean;
  readonly delta?: boolean;
  readonly publications?: readonly ReceivedPublication[];
}

/** The client whose subscription it is. */
export interface Subscriber {
  readonly who: string;
  readonly user: string;
  readonly context: WorldContext;
  /** Sends a command on the client's connection. */
  readonly send: (command: object, answered: (frame: ReceivedFrame) => void) => void;
  /** Does work after the client's backoff. */
  readonly askLater: (work: () => void) => void;
  /** The event in which the frame was sent that is being taken, see `Timeline.moment`. */
  readonly frameMoment: () => number;
}

/**
 * One client's subscriptions to one channel. The checker checks that each publication arrives once, in order and
 * without a hole (rules O3, L3); this class compares each publication with what the channel object published.
 */
export class ClientSubscription {
  readonly channel: string;
  /** Whether the server subscribes the client when it connects. */
  readonly given: boolean;
  readonly #who: string;
  readonly #publications: PublicationLog;
  protected readonly eventLog: EventLog;
  /** The client's name in the checker's history. */
  process: string;
  wanted = false;
  /** Whether an order made the subscription, so that it ends with the connection (rule U7). */
  isOrdered = false;
  /** Whether an order has ended the subscription on this connection, so that a token's is missing (rule U2). */
  isRevoked = false;
  /** on: the subscribe was answered and nothing has ended the subscription since. */
  state: "off" | "asking" | "on" = "off";
  /** Unsubscribes without an answer yet. Pushes before the answer belong to the subscription that ends. */
  leaving = 0;
  /** Subscribes without an answer yet. */
  asks = 0;
  /** The number of subscriptions so far. */
  generation = 0;
  /** The client's position; absent before the first subscription, and without history. */
  position: StreamPosition | undefined;
  /** Without history: the index of the publication that the client received last, among all that were published. */
  #lastIndex = -1;
  #lastIncarnation = 0;
  #receivedAny = false;
  /** All publications that the client received, in order. */
  readonly received: string[] = [];
  /** How often the client was told of insufficient state. */
  losses = 0;
  /** How often a subscribe reply said that recovery failed. */
  failedRecoveries = 0;
  /** The clients that are present, by the joins and leaves since the subscription began. */
  readonly members = new Set<string>();

  constructor(channel: string, { who, context }: Subscriber, given = false) {
    this.channel = channel;
    this.given = given;
    this.#who = who;
    this.process = who;
    this.#publications = context.publicationLog;
    this.eventLog = context.eventLog;
  }

  /**
   * A subscribe was answered, with the publications that it recovered.
   *
   * @param client the connection's ID
   * @param since  the position to recover from, where it isn't the client's own
   */
  begin(result: ReceivedResult, recovering: boolean, client: string, since?: StreamPosition): void {
    const { epoch = "", offset = 0, recovered = false, positioned = false } = result;
    const publications = result.publications ?? [];
    this.state = "on";
    this.isOrdered = false;
    this.isRevoked = false;
    // A client without a position can't recover, so each of its subscriptions is another process to the checker.
    if (!positioned) this.process = `${this.#who}/${this.generation}`;
    this.eventLog.note({
      ...this.mine,
      type: "ok",
      f: "subscribe",
      client,
      recovering,
      recovered,
      ...(positioned ? { epoch, offset } : {}),
      ...(since === undefined ? {} : { since }),
    });
    this.members.clear();
    this.#receivedAny = false;
    this.#lastIndex = this.#publications.count(this.channel) - 1;
    this.#lastIncarnation = this.#publications.last(this.channel)?.incarnation ?? 0;
    if (!positioned) return;
    if (!recovered) {
      if (recovering) this.failedRecoveries++;
      this.position = { epoch, offset };
      return;
    }
    // An order's push comes before what it recovers.
    this.position ??= { epoch, offset };
    // With cache recovery the client skips the publications before the newest one.
    const [newest] = this.#isCache ? publications : [];
    if (newest !== undefined) this.position = { epoch, offset: (newest.offset ?? 0) - 1 };
    for (const publication of publications) this.#takePositioned(publication);
  }

  /**
   * An order has subscribed the client. The push doesn't say whether it recovers; its position does.
   *
   * @param since the position that the order names, if it names one
   */
  beginOrdered(result: ReceivedResult, since: StreamPosition | undefined, client: string): void {
    if (this.state === "on") this.complain("was subscribed by an order although it was");
    // The client doesn't ask to recover what it had before.
    this.end(true);
    const recovered = since?.epoch === result.epoch && since?.offset === (result.offset ?? 0);
    this.begin({ ...result, recovered }, since !== undefined, client, since);
    this.isOrdered = true;
  }

  /** An order has ended the subscription: the client doesn't ask for it again by itself. */
  revoke(): void {
    this.wanted = false;
    this.end(true);
    this.isRevoked = true;
  }

  /** The client is about to ask for the subscription. */
  startFlow(): void {
    // There is one request.
  }

  /** The request with which the client asks next. */
  get request(): object {
    return { channel: this.channel, ...this.recovering };
  }

  /** The fields of a request that ask to recover. */
  get recovering(): object {
    return this.position === undefined ? {} : { recover: true, ...this.position };
  }

  /**
   * The request was answered.
   *
   * @param client the connection's ID
   * @returns whether the subscription has begun; otherwise the next request is due
   */
  takeReply(result: ReceivedResult, client: string): boolean {
    this.begin(result, this.position !== undefined, client);
    return true;
  }

  /** Whether the client was told with this error to begin anew. */
  startsAgain(_code: number): boolean {
    return false;
  }

  /** A publication arrived. */
  take(publication: ReceivedPublication): void {
    if (this.leaving > 0) return;
    if (this.state !== "on") this.#noteDelivery(publication);
    else if (this.position === undefined) this.#takeUnpositioned(publication);
    else this.#takePositioned(publication);
  }

  /** A join or a leave arrived. */
  takePresenceEvent(type: "join" | "leave", client: string): void {
    if (this.leaving > 0) return;
    if (this.state !== "on") this.complain(`received a ${type} while ${this.state}`);
    if (type === "join") this.members.add(client);
    else this.members.delete(client);
  }

  /** The client was told of insufficient state. */
  lose(code: number): void {
    if (this.state !== "on") this.complain(`was unsubscribed while ${this.state}`);
    this.losses++;
    this.eventLog.note({ ...this.mine, type: "info", f: "signal", code });
    if (this.position === undefined || this.isOrdered) {
      this.eventLog.note({ ...this.mine, type: "info", f: "detach", forgets: true });
    }
    if (this.isOrdered) this.position = undefined;
    this.isOrdered = false;
    this.state = "off";
    this.generation++;
  }

  /** The subscription has ended; the client may recover later unless it forgets its position. */
  end(forgets = false): void {
    if (this.state === "on" || forgets) {
      const isForgotten = forgets || this.position === undefined;
      this.eventLog.note({ ...this.mine, type: "info", f: "detach", forgets: isForgotten });
    }
    if (forgets) this.position = undefined;
    this.isOrdered = false;
    this.state = "off";
    this.generation++;
  }

  /** Compares the client's position with the channel's top, when all is quiet. */
  checkAt(top: StreamPosition | undefined): void {
    const { position } = this;
    if (position === undefined) {
      const last = this.#publications.last(this.channel);
      if (this.#lastIndex !== (last?.index ?? -1)) {
        this.complain(`ends at ${this.#lastIndex} and not at ${last?.index}`);
      }
    } else if (position.epoch !== top?.epoch || position.offset !== top.offset) {
      const stands = `${position.epoch}:${position.offset}`;
      this.complain(`is at ${stands} and not at ${top?.epoch}:${top?.offset}`);
    }
  }

  /** What all events of the subscription name. */
  protected get mine(): { readonly process: string; readonly channel: string } {
    return { process: this.process, channel: this.channel };
  }

  #noteDelivery({ data, offset }: ReceivedPublication): void {
    const place = offset === undefined || offset === 0 ? {} : { offset };
    this.eventLog.note({
      ...this.mine,
      type: "ok",
      f: "deliver",
      value: String(data),
      ...place,
    });
  }

  get #isCache(): boolean {
    return this.channel.startsWith("last:") || this.channel.startsWith("newest:");
  }

  #takePositioned(publication: ReceivedPublication): void {
    const { data, offset = 0 } = publication;
    this.#noteDelivery(publication);
    const { position } = this;
    const text = String(data);
    if (position === undefined) return;
    const found = this.#publications.find(text)?.position;
    if (found?.offset !== offset || found.epoch !== position.epoch) {
      const place = `${position.epoch}:${offset}`;
      this.complain(`received ${text} at ${place}, published at ${found?.epoch}:${found?.offset}`);
    }
    this.position = { ...position, offset };
    this.received.push(text);
    this.arrived(this.position);
  }

  /** A publication with a position has arrived at the client's program. */
  protected arrived(_position: StreamPosition): void {
    // Most channels keep nothing of it.
  }

  /** The client has got a ping, and answers it. */
  pinged(): void {
    // Most channels keep nothing of it.
  }

  /** Without history, a crash may lose publications. Within one incarnation of the object none may be missing. */
  #takeUnpositioned(publication: ReceivedPublication): void {
    this.#noteDelivery(publication);
    const text = String(publication.data);
    const found = this.#publications.find(text);
    this.received.push(text);
    if (found === undefined) {
      this.complain(`received ${text}, which nobody published`);
      return;
    }
    const { index, incarnation } = found;
    const isRepeated = this.#receivedAny && index <= this.#lastIndex;
    const isFirst = this.#publications.isFirstOfIncarnation(this.channel, found);
    const follows = incarnation === this.#lastIncarnation ? index <= this.#lastIndex + 1 : isFirst;
    if (isRepeated || (!follows && (this.#receivedAny || index > this.#lastIndex + 1))) {
      this.complain(`received ${text}, number ${index}, after ${this.#lastIndex}`);
    }
    this.#receivedAny = true;
    this.#lastIndex = index;
    this.#lastIncarnation = incarnation;
  }

  protected complain(what: string): void {
    this.#publications.complain(`${this.#who} on ${this.channel} ${what}`);
  }
}
