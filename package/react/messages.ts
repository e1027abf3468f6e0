import type { ClientInfo, HistoryResult, PublicationContext } from "centrifuge";

/** The type of data as the SDK has it. Only components know what they are. */
export type Sent = PublicationContext["data"];

/** A message of a channel. */
export interface Message<Data> {
  /** Unlike that of every other message of the list: for React's `key`. */
  readonly key: string;
  readonly data: Data;
  /** Its number in the channel's history. Channels without a history have none. */
  readonly offset: number | undefined;
  /** The client that published it; a backend has none. */
  readonly info: ClientInfo | undefined;
  readonly tags: Readonly<Record<string, string>> | undefined;
}

/** The messages of a channel, with the hole that is among them. */
export class Messages {
  #before: readonly Message<Sent>[] = [];
  #since: readonly Message<Sent>[] = [];
  /** The epochs on both sides of the hole; none where offsets can't tell how large it is. */
  #epochBefore: string | undefined;
  #epoch: string | undefined;
  #keys = 0;

  /** Those before the hole, and those behind it. */
  get all(): readonly Message<Sent>[] {
    return [...this.#before, ...this.#since];
  }

  get hasGap(): boolean {
    return this.#before.length > 0;
  }

  /** The channel is subscribed, and what comes now is behind a hole if something was missed. */
  subscribed(epoch: string | undefined, isMissed: boolean): void {
    if (isMissed) {
      this.#epochBefore = this.hasGap ? undefined : this.#epoch;
      [this.#before, this.#since] = [this.all, []];
    }
    this.#epoch = epoch;
  }

  /** Takes the newest publications of the history, newest first. What they don't reach, before the hole, goes. */
  readHistory({ publications, offset, epoch }: HistoryResult): void {
    const last = this.#before.at(-1)?.offset ?? -1;
    const reaches = last + 1 >= (publications.at(-1)?.offset ?? offset + 1);
    if (reaches && epoch === this.#epochBefore) this.#since = this.all;
    this.#before = [];
    this.#epoch = epoch;
    this.add(...publications.toReversed());
  }

  /** Adds publications behind the hole: each once, and in the order of their offsets. */
  add(...publications: readonly PublicationContext[]): void {
    const since = [...this.#since];
    for (const { offset, data, info, tags } of publications) {
      const place = 1 + since.findLastIndex((one) => !(Number(one.offset) >= Number(offset)));
      if (offset !== undefined && since[place]?.offset === offset) continue;
      since.splice(place, 0, { key: String(++this.#keys), data, offset, info, tags });
    }
    this.#since = since;
  }

  /** Forgets all but the newest ones. */
  keep(count: number): void {
    this.#since = this.#since.slice(-count);
    const room = count - this.#since.length;
    this.#before = this.#before.slice(Math.max(0, this.#before.length - room));
  }
}
