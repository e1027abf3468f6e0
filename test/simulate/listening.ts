import type { StreamPosition } from "../../src/protocol/publication.ts";
import type { Ledger } from "./ledger.ts";

/** A publication as a client hears it. */
export interface HeardPublication {
  readonly data: unknown;
  readonly offset?: number;
}

/** A subscribe's result as a client hears it. */
export interface HeardResult {
  readonly epoch?: string;
  readonly offset?: number;
  readonly recovered?: boolean;
  readonly positioned?: boolean;
  readonly publications?: readonly HeardPublication[];
}

/**
 * What one client hears of one channel, and what it makes of it: from the position of its subscribe reply on each
 * publication once, in order, without a hole, until it is told that it lost the stream (rules O3, L3).
 */
export class Listening {
  readonly channel: string;
  /** The server subscribes it, with the connection. */
  readonly given: boolean;
  readonly #who: string;
  readonly #ledger: Ledger;
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
  #lastLife = 0;
  #heardAny = false;
  /** Everything it heard, in order. */
  readonly heard: string[] = [];
  /** How often it was told that it lost the stream. */
  losses = 0;
  /** How often it was told, with its subscribe reply, that what it missed can't be had. */
  failedRecoveries = 0;
  /** Who is there, from the joins and leaves it heard since it was subscribed. */
  readonly members = new Set<string>();

  constructor(channel: string, given: boolean, who: string, ledger: Ledger) {
    this.channel = channel;
    this.given = given;
    this.#who = who;
    this.#ledger = ledger;
  }

  /** Whether it ever heard this. */
  hasHeard(data: string): boolean {
    return this.heard.includes(data);
  }

  /** It was subscribed, and told what it missed. */
  begin(result: HeardResult, recovering: boolean): void {
    const { epoch = "", offset = 0, recovered = false, positioned = false } = result;
    const publications = result.publications ?? [];
    this.state = "on";
    this.members.clear();
    this.#heardAny = false;
    this.#lastIndex = this.#ledger.count(this.channel) - 1;
    this.#lastLife = this.#ledger.last(this.channel)?.life ?? 0;
    if (!positioned) return;
    if (!recovered) {
      if (recovering) this.failedRecoveries++;
      if (publications.length > 0) this.#complain("was given publications without recovering");
      this.position = { epoch, offset };
      return;
    }
    if (!recovering) this.#complain("recovered though it didn't ask");
    const isSameStream =
      this.position?.epoch === epoch || (this.#isCache && publications.length > 0);
    if (!isSameStream || this.position?.offset !== offset) {
      this.#complain(`recovered from ${epoch}:${offset} and not from where it was`);
    }
    // Whoever wants the newest publication alone passes over those before it.
    const [newest] = this.#isCache ? publications : [];
    if (newest !== undefined) this.position = { epoch, offset: (newest.offset ?? 0) - 1 };
    for (const publication of publications) this.#hearPositioned(publication);
  }

  /** A publication came. */
  hear(publication: HeardPublication): void {
    if (this.leaving > 0) return;
    if (this.state !== "on") {
      this.#complain(`heard ${String(publication.data)} while ${this.state}`);
      return;
    }
    if (this.position === undefined) this.#hearUnpositioned(String(publication.data));
    else this.#hearPositioned(publication);
  }

  /** Somebody came or went. */
  hearOf(type: "join" | "leave", client: string): void {
    if (this.leaving > 0) return;
    if (this.state !== "on") this.#complain(`heard of a ${type} while ${this.state}`);
    if (type === "join") this.members.add(client);
    else this.members.delete(client);
  }

  /** It was told that it lost the stream. */
  lose(): void {
    if (this.state !== "on") this.#complain(`was unsubscribed while ${this.state}`);
    this.losses++;
    this.end();
  }

  /** It isn't subscribed any more; it may come back and recover. */
  end(): void {
    this.state = "off";
    this.generation++;
  }

  /** When all is quiet it must stand where the channel stands. */
  checkAt(top: StreamPosition | undefined): void {
    const { position } = this;
    if (position === undefined) {
      const last = this.#ledger.last(this.channel);
      if (this.#lastIndex !== (last?.index ?? -1)) {
        this.#complain(`ends at ${this.#lastIndex} and not at ${last?.index}`);
      }
    } else if (position.epoch !== top?.epoch || position.offset !== top.offset) {
      const stands = `${position.epoch}:${position.offset}`;
      this.#complain(`stands at ${stands} and not at ${top?.epoch}:${top?.offset}`);
    }
  }

  get #isCache(): boolean {
    return this.channel.startsWith("last:");
  }

  #hearPositioned({ data, offset = 0 }: HeardPublication): void {
    const { position } = this;
    const text = String(data);
    if (position === undefined) return;
    if (offset !== position.offset + 1) {
      this.#complain(`heard ${text} at ${offset} after ${position.epoch}:${position.offset}`);
    }
    const found = this.#ledger.find(text)?.position;
    if (found?.offset !== offset || found.epoch !== position.epoch) {
      const place = `${position.epoch}:${offset}`;
      this.#complain(`heard ${text} at ${place}, published at ${found?.epoch}:${found?.offset}`);
    }
    this.position = { ...position, offset };
    this.heard.push(text);
  }

  /** What a crash kept from being told is gone without history. Within one life of the object nothing may be missing. */
  #hearUnpositioned(text: string): void {
    const found = this.#ledger.find(text);
    this.heard.push(text);
    if (found === undefined) {
      this.#complain(`heard ${text}, which nobody published`);
      return;
    }
    const { index, life } = found;
    const isRepeated = this.#heardAny && index <= this.#lastIndex;
    const isFirst = this.#ledger.isFirstOfLife(this.channel, found);
    const follows = life === this.#lastLife ? index <= this.#lastIndex + 1 : isFirst;
    if (isRepeated || (!follows && (this.#heardAny || index > this.#lastIndex + 1))) {
      this.#complain(`heard ${text}, number ${index}, after ${this.#lastIndex}`);
    }
    this.#heardAny = true;
    this.#lastIndex = index;
    this.#lastLife = life;
  }

  #complain(what: string): void {
    this.#ledger.complain(`${this.#who} on ${this.channel} ${what}`);
  }
}
