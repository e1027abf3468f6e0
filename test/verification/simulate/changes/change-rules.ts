import type { ReceivedPublication } from "../client-subscription.ts";

/**
 * What was edited, deleted and erased, and when that was acknowledged: who asks afterwards is given no older form, by whatever way,
 * and versions only grow (rules ED3, ED6, ED11 and ED14).
 */
export class ChangeRules {
  readonly #complain: (what: string) => void;
  /** When each text was gone from what can be read, and when it was erased everywhere, ms since 1970. */
  readonly #goneMs = new Map<string, number>();
  readonly #erasedMs = new Map<string, number>();
  /** The versions that publications have had since a time, by channel and offset. */
  readonly #versions = new Map<string, { readonly version: number; readonly atMs: number }[]>();

  constructor(complain: (what: string) => void) {
    this.#complain = complain;
  }

  /** The changes that have replaced these texts were acknowledged. */
  gone(texts: Iterable<string>, atMs: number): void {
    for (const text of texts) if (!this.#goneMs.has(text)) this.#goneMs.set(text, atMs);
  }

  /** The erasure of these texts was acknowledged. */
  erased(texts: Iterable<string>, atMs: number): void {
    for (const text of texts) this.#erasedMs.set(text, atMs);
    this.gone(texts, atMs);
  }

  /** A change was acknowledged with this version. */
  changed(channel: string, offset: number, version: number, atMs: number): void {
    const key = `${channel} ${offset}`;
    const known = this.#versions.get(key) ?? [];
    this.#versions.set(key, known);
    known.push({ version, atMs });
  }

  /** A subscriber was sent a publication, which may have been under way since before its change. @param askedAtMs when it subscribed */
  sent(who: string, channel: string, { data }: ReceivedPublication, askedAtMs: number): void {
    const erasedMs = this.#erasedMs.get(String(data));
    if (erasedMs !== undefined && erasedMs < askedAtMs)
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
