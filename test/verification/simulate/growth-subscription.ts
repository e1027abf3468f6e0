import type { StreamPosition } from "../../../src/protocol/publication.ts";
import type { ReceivedPublication, Subscriber } from "./client-subscription.ts";
import { growthKindOf } from "./growth-kinds.ts";
import type { KnownGrowth } from "./growth-rules.ts";
import { numberOf } from "./growth-text.ts";
import { type MapResult, PagedSubscription } from "./paged-subscription.ts";
import { sdkCodec } from "./sdk-codec.ts";
import type { WorldContext } from "./world-context.ts";

/**
 * One client's subscriptions to a map whose values grow, with the values that it puts together. What it shows of a key is always the beginning of a text that was sent, and becomes shorter only when the
 * client is told of that: by another change of the key, or because it has to read the map anew (rules Z39, Z41 and Z42).
 */
export class GrowthSubscription extends PagedSubscription {
  /** The texts that the client shows, by key. */
  readonly texts = new Map<string, string>();
  readonly #who: string;
  readonly #context: WorldContext;
  readonly #isEphemeral: boolean;
  readonly #asksForDeltas: boolean;
  /** What the SDK applies the next delta of each key to. */
  readonly #bases = new Map<string, Uint8Array>();
  #getsDeltas = false;
  /** Whether the map had no change yet when the client began. */
  #beganAtBeginning = false;
  /** The entries of all pages, in the order in which they came. */
  #entries: ReceivedPublication[] = [];
  /** Whether the client reads the state, and forgets what it has. */
  #isNew = true;
  /** What was known of each key when the client began to ask. */
  #known: readonly KnownGrowth[] = [];
  /** How many deltas the client got, and how many texts without an offset. */
  deltas = 0;
  pieces = 0;

  constructor(channel: string, subscriber: Subscriber) {
    super(channel, 1, subscriber);
    const { who, context } = subscriber;
    this.#who = who;
    this.#context = context;
    this.#isEphemeral = growthKindOf(channel)?.isEphemeral === true;
    this.#asksForDeltas = who.charCodeAt(who.length - 1) % 3 > 0;
  }

  protected override begins(isNew: boolean): void {
    this.#isNew = isNew;
    this.#entries = [];
    this.#known = this.#context.growth.knownOfAll(this.channel);
  }

  protected override get more(): object {
    return this.#asksForDeltas ? { delta: "fossil" } : {};
  }

  override startsAgain(code: number): boolean {
    if (!super.startsAgain(code)) return false;
    this.position = undefined;
    return true;
  }

  protected override takePage({ state = [], publications = [] }: MapResult): void {
    this.#entries.push(...state, ...publications);
  }

  override take(publication: ReceivedPublication): void {
    if (this.leaving > 0) return;
    const { position } = this;
    const { key = "", offset = 0, epoch } = publication;
    if (this.state !== "on") {
      this.complain(`was told of ${key} while ${this.state}`);
      return;
    }
    this.#change(publication);
    if (offset === 0) this.pieces++;
    if (position === undefined || offset === 0) return;
    const isNew = epoch !== undefined && epoch !== position.epoch;
    if (offset <= position.offset && !isNew)
      this.complain(`was told of ${offset} after ${position.offset}`);
    this.position = { epoch: epoch ?? position.epoch, offset };
  }

  override end(forgets = false): void {
    super.end();
    if (forgets || this.#isEphemeral) this.position = undefined;
    if (forgets) this.texts.clear();
  }

  /** When all is quiet, the client shows what the map has. */
  override checkAt(top: StreamPosition | undefined): void {
    const { position } = this;
    // A client at the beginning is told of another epoch with the first change, unless it gets deltas (docs/protocol.md 2.6).
    const isOther = position !== undefined && position.epoch !== top?.epoch;
    const mayBeOther = isOther && this.#beganAtBeginning && (this.#getsDeltas || top?.offset === 0);
    const epoch = mayBeOther ? position.epoch : top?.epoch;
    if (!this.#isEphemeral) super.checkAt(top && { ...top, epoch: epoch ?? top.epoch });
    const host = this.#context.channel(this.channel);
    if (host.top?.offset !== top?.offset) return;
    const has = host.texts;
    for (const key of new Set([...has.keys(), ...this.texts.keys()])) {
      const [is, shown] = [has.get(key), this.texts.get(key)];
      if (is !== shown)
        this.complain(
          `shows ${JSON.stringify(shown)} of ${key} at rest, not ${JSON.stringify(is)}`,
        );
    }
  }

  protected override live(
    { delta = false, epoch = "", offset = 0 }: MapResult,
    client: string,
  ): void {
    this.#getsDeltas = delta;
    if (delta !== (this.#asksForDeltas && !this.#isEphemeral))
      this.complain("wasn't granted what it asked for");
    if (this.#isNew) {
      this.texts.clear();
      this.#bases.clear();
    }
    for (const entry of this.#entries) this.#change(entry);
    // A gateway may be behind, and passes on the rest later.
    const isOwn = client.startsWith(`${this.channel}/`);
    if (isOwn)
      for (const known of this.#known) this.#context.growth.joined(known, this.texts, this.#who);
    this.#beganAtBeginning = offset === 0 && (this.#isNew || this.#beganAtBeginning);
    this.position = this.#isEphemeral ? undefined : { epoch, offset };
  }

  #change({ key = "", data, removed, delta = false }: ReceivedPublication): void {
    if (removed === true) {
      this.#bases.delete(key);
      this.texts.delete(key);
      return;
    }
    const text = this.#decoded(key, data, delta);
    if (text === undefined) return;
    const { growth } = this.#context;
    const { channel } = this;
    const before = this.texts.get(key);
    const number = growth.shows(channel, key, text, this.#who);
    this.texts.set(key, text);
    const isSame = before !== undefined && (numberOf(key, before) ?? 0) === number;
    const mayBeShorter = this.#isEphemeral && growth.wasTakenBack(channel, key);
    if (isSame && text.length < before.length && !mayBeShorter)
      this.complain(`is shown ${text.length} of ${key} ${number} after ${before.length}`);
  }

  /** The text of a publication; undefined if it fits nothing that the client has. */
  #decoded(key: string, data: unknown, delta: boolean): string | undefined {
    if (!this.#getsDeltas) return String(data);
    if (delta) this.deltas++;
    try {
      const decoded = sdkCodec.applyDeltaIfNeeded({ data, delta }, this.#bases.get(key));
      this.#bases.set(key, decoded.newPrevValue);
      return String(decoded.newData);
    } catch (error) {
      this.complain(`was sent a delta of ${key} that doesn't fit: ${String(error)}`);
      return undefined;
    }
  }
}
