import type { StreamPosition } from "../../src/protocol/publication.ts";
import type { EventLog } from "./event-log.ts";
import type { PublicationLog } from "./publication-log.ts";

/** A publication as a client hears it. */
export interface ReceivedPublication {
  readonly data: unknown;
  readonly offset?: number;
}

/** A subscribe's result as a client hears it. */
export interface ReceivedResult {
  readonly epoch?: string;
  readonly offset?: number;
  readonly recovered?: boolean;
  readonly positioned?: boolean;
  readonly publications?: readonly ReceivedPublication[];
}

/**
 * What one client hears of one channel, and what it makes of it. That it hears each publication once, in order and without a
 * hole the checker sees (rules O3, L3); here it is compared with what the channel's object did.
 */
export class ClientSubscription {
  readonly channel: string;
  /** The server subscribes it, with the connection. */
  readonly given: boolean;
  readonly #who: string;
  readonly #publications: PublicationLog;
  readonly #eventLog: EventLog;
  /** Who it is to the checker. */
  process: string;
  wanted = false;
  /** on: its subscribe was answered, and nothing has ended it since. */
  state: "off" | "asking" | "on" = "off";
  /** Unsubscribes that are not answered yet. What comes before the answer belongs to the subscription that ends. */
  leaving = 0;
  /** Counts the subscriptions. */
  generation = 0;
  /** How far it is; absent before its first subscription, and without history. */
  position: StreamPosition | undefined;
  /** Without history: the place, among all that was published, of what it heard last. */
  #lastIndex = -1;
  #lastIncarnation = 0;
  #receivedAny = false;
  /** Everything it heard, in order. */
  readonly received: string[] = [];
  /** How often it was told that it lost the stream. */
  losses = 0;
  /** How often it was told, with its subscribe reply, that what it missed can't be had. */
  failedRecoveries = 0;
  /** Who is there, from the joins and leaves it heard since it was subscribed. */
  readonly members = new Set<string>();

  constructor(
    channel: string,
    given: boolean,
    who: string,
    publicationLog: PublicationLog,
    eventLog: EventLog,
  ) {
    this.channel = channel;
    this.given = given;
    this.#who = who;
    this.process = who;
    this.#publications = publicationLog;
    this.#eventLog = eventLog;
  }

  /**
   * It was subscribed, and told what it missed.
   *
   * @param client the connection's ID
   */
  begin(result: ReceivedResult, recovering: boolean, client: string): void {
    const { epoch = "", offset = 0, recovered = false, positioned = false } = result;
    const publications = result.publications ?? [];
    this.state = "on";
    // Whoever has no position can't say what it has heard, and begins anew: as somebody else, for the checker.
    if (!positioned) this.process = `${this.#who}/${this.generation}`;
    this.#eventLog.note({
      ...this.#mine,
      type: "ok",
      f: "subscribe",
      client,
      recovering,
      recovered,
      ...(positioned ? { epoch, offset } : {}),
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
    // Whoever wants the newest publication alone passes over those before it.
    const [newest] = this.#isCache ? publications : [];
    if (newest !== undefined) this.position = { epoch, offset: (newest.offset ?? 0) - 1 };
    for (const publication of publications) this.#takePositioned(publication);
  }

  /** A publication came. */
  take(publication: ReceivedPublication): void {
    if (this.leaving > 0) return;
    if (this.state !== "on") this.#noteDelivery(publication);
    else if (this.position === undefined) this.#takeUnpositioned(publication);
    else this.#takePositioned(publication);
  }

  /** Somebody came or went. */
  takePresenceEvent(type: "join" | "leave", client: string): void {
    if (this.leaving > 0) return;
    if (this.state !== "on") this.#complain(`heard of a ${type} while ${this.state}`);
    if (type === "join") this.members.add(client);
    else this.members.delete(client);
  }

  /** It was told that it lost the stream. */
  lose(code: number): void {
    if (this.state !== "on") this.#complain(`was unsubscribed while ${this.state}`);
    this.losses++;
    this.#eventLog.note({ ...this.#mine, type: "info", f: "signal", code });
    if (this.position === undefined) {
      this.#eventLog.note({ ...this.#mine, type: "info", f: "detach", forgets: true });
    }
    this.state = "off";
    this.generation++;
  }

  /** It isn't subscribed any more; it may come back and recover, unless it forgets where it was. */
  end(forgets = false): void {
    if (this.state === "on" || forgets) {
      const isForgotten = forgets || this.position === undefined;
      this.#eventLog.note({ ...this.#mine, type: "info", f: "detach", forgets: isForgotten });
    }
    if (forgets) this.position = undefined;
    this.state = "off";
    this.generation++;
  }

  /** When all is quiet it must stand where the channel stands. */
  checkAt(top: StreamPosition | undefined): void {
    const { position } = this;
    if (position === undefined) {
      const last = this.#publications.last(this.channel);
      if (this.#lastIndex !== (last?.index ?? -1)) {
        this.#complain(`ends at ${this.#lastIndex} and not at ${last?.index}`);
      }
    } else if (position.epoch !== top?.epoch || position.offset !== top.offset) {
      const stands = `${position.epoch}:${position.offset}`;
      this.#complain(`stands at ${stands} and not at ${top?.epoch}:${top?.offset}`);
    }
  }

  get #mine(): { readonly process: string; readonly channel: string } {
    return { process: this.process, channel: this.channel };
  }

  #noteDelivery({ data, offset }: ReceivedPublication): void {
    const place = offset === undefined || offset === 0 ? {} : { offset };
    this.#eventLog.note({
      ...this.#mine,
      type: "ok",
      f: "deliver",
      value: String(data),
      ...place,
    });
  }

  get #isCache(): boolean {
    return this.channel.startsWith("last:");
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
      this.#complain(`heard ${text} at ${place}, published at ${found?.epoch}:${found?.offset}`);
    }
    this.position = { ...position, offset };
    this.received.push(text);
  }

  /** What a crash kept from being told is gone without history. Within one life of the object nothing may be missing. */
  #takeUnpositioned(publication: ReceivedPublication): void {
    this.#noteDelivery(publication);
    const text = String(publication.data);
    const found = this.#publications.find(text);
    this.received.push(text);
    if (found === undefined) {
      this.#complain(`heard ${text}, which nobody published`);
      return;
    }
    const { index, incarnation } = found;
    const isRepeated = this.#receivedAny && index <= this.#lastIndex;
    const isFirst = this.#publications.isFirstOfIncarnation(this.channel, found);
    const follows = incarnation === this.#lastIncarnation ? index <= this.#lastIndex + 1 : isFirst;
    if (isRepeated || (!follows && (this.#receivedAny || index > this.#lastIndex + 1))) {
      this.#complain(`heard ${text}, number ${index}, after ${this.#lastIndex}`);
    }
    this.#receivedAny = true;
    this.#lastIndex = index;
    this.#lastIncarnation = incarnation;
  }

  #complain(what: string): void {
    this.#publications.complain(`${this.#who} on ${this.channel} ${what}`);
  }
}
