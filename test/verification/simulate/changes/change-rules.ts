import type { ReceivedPublication } from "../client-subscription.ts";

/**
 * What was edited, deleted and erased, and when that was acknowledged: who asks afterwards is given no older form, by whatever way,
 * and versions only grow (rules ED3, ED6, ED11 and ED14).
 */
export class ChangeRules {
  readonly #complain: (what: string) => void;
  /** When each text was gone from what can be read, ms since 1970. */
  readonly #goneMs = new Map<string, number>();
  /** When each text was erased everywhere, and the event in which that became known. */
  readonly #erased = new Map<string, { readonly atMs: number; readonly moment: number }>();
  /** The versions that publications have had since a time, by channel and offset. */
  readonly #versions = new Map<string, { readonly version: number; readonly atMs: number }[]>();

  constructor(complain: (what: string) => void) {
    this.#complain = complain;
  }

  /** The changes that have replaced these texts were acknowledged. */
  gone(texts: Iterable<string>, atMs: number): void {
    for (const text of texts) if (!this.#goneMs.has(text)) this.#goneMs.set(text, atMs);
  }

  /** The erasure of these texts was acknowledged. @param moment in this event, see `Timeline.moment` */
  erased(texts: Iterable<string>, atMs: number, moment: number): void {
    for (const text of texts) this.#erased.set(text, { atMs, moment });
    this.gone(texts, atMs);
  }

  /** A change was acknowledged with this version. */
  changed(channel: string, offset: number, version: number, atMs: number): void {
    const key = `${channel} ${offset}`;
    const known = this.#versions.get(key) ?? [];
    this.#versions.set(key, known);
    known.push({ version, atMs });
  }

  /** A subscriber was sent a publication. What answers it may have been under way since before an erasure. */
  sent(who: string, channel: string, { data }: ReceivedPublication, sent: SentFrame): void {
    const erased = this.#erased.get(String(data));
    if (erased === undefined) return;
    const isLater = erased.atMs < sent.askedAtMs;
    // Whose subscription had begun by then is sent nothing of it any more (rule ED16).
    if (isLater || (sent.begun < erased.moment && erased.moment < sent.moment))
      this.#complain(`${who} was sent ${String(data)} of ${channel}, which was erased before`);
  }

  /** Somebody has read publications. @param askedAtMs when it asked for them */
  given(
    who: string,
    channel: string,
    publications: readonly ReceivedPublication[],
    askedAtMs: number,
  ): void {
    for (const { data, offset = 0, tags = {} } of publications) {
      const text = String(data);
      const goneMs = this.#goneMs.get(text);
      if (goneMs !== undefined && goneMs < askedAtMs)
        this.#complain(`${who} got ${text} of ${channel}, which was gone before it asked`);
      if (tags["dormouse.update"] ?? tags["dormouse.delete"] ?? tags["dormouse.replaced"]) continue;
      const version = Number(tags["dormouse.version"] ?? 1);
      for (const known of this.#versions.get(`${channel} ${offset}`) ?? [])
        if (known.atMs < askedAtMs && known.version > version)
          this.#complain(`${who} got version ${version} of ${channel} ${offset} after a later one`);
    }
  }

  /** All that is stored. @param erased texts that were erased before */
  stored(channel: string, rows: string, erased: Iterable<string>): void {
    for (const text of erased)
      if (rows.includes(text)) this.#complain(`${channel} still stores ${text}`);
  }
}

/** The frame with a publication, and the subscription that it is for. */
interface SentFrame {
  /** When the client subscribed, ms since 1970. */
  readonly askedAtMs: number;
  /** The events in which the server sent that the subscription has begun, and the frame: see `Timeline.moment`. */
  readonly begun: number;
  readonly moment: number;
}
