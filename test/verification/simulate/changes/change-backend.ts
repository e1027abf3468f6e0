import { plainPublication } from "../../../../src/channel/publication-request.ts";
import type { ChannelOperation } from "../../../../src/contract/channel-call.ts";
import { json } from "../../../core/api/channel-config.ts";
import { keepsAll } from "./change-kinds.ts";
import { callChannel } from "../channel-call.ts";
import type { ReceivedPublication } from "../client-subscription.ts";
import type { WorldContext } from "../world-context.ts";

/** A backend that publishes texts, edits, deletes and erases them, and repeats each request until it is acknowledged. */
export class ChangeBackend {
  readonly #context: WorldContext;
  readonly #backoffMs: () => number;
  readonly #texts: SentText[] = [];
  /** The texts that were erased, by channel. */
  readonly #erased = new Map<string, Set<string>>();
  #sent = 0;
  /** How many requests aren't acknowledged. */
  pending = 0;

  constructor(context: WorldContext, backoffMs: () => number) {
    this.#context = context;
    this.#backoffMs = backoffMs;
  }

  /** @param user whose client publishes; "" for none */
  publish(channel: string, user: string): void {
    const text = this.#newText();
    const info = user === "" ? {} : { info: { user, client: `of ${user}` } };
    const request = { ...plainPublication(json(`"${text}"`)), idempotencyKey: keyOf(text) };
    this.#ask(channel, { method: "publish", request, ...info }, ({ offset = 0 }) =>
      this.#texts.push({ channel, user, offset, texts: [text], isBusy: false, isGone: false }),
    );
  }

  edit(channel: string, index: number): void {
    const sent = this.#pick(channel, index);
    if (sent === undefined) return;
    const text = this.#newText();
    const request = { ...this.#common(sent, text), data: json(`"${text}"`), delta: false };
    this.#ask(channel, { method: "update_publication", request }, (result) =>
      this.#changed(sent, sent.texts.splice(0, sent.texts.length, text), result),
    );
  }

  remove(channel: string, index: number): void {
    const sent = this.#pick(channel, index);
    if (sent === undefined) return;
    const request = { ...this.#common(sent, this.#newText()), reason: "" };
    this.#ask(channel, { method: "delete_publication", request }, (result) => {
      sent.isGone = true;
      this.#changed(sent, sent.texts, result);
    });
  }

  erase(channel: string, index: number): void {
    const sent = this.#pick(channel, index);
    if (sent === undefined) return;
    const request = { offset: sent.offset, epoch: "", user: "" };
    this.#ask(channel, { method: "erase", request }, () => this.#erase([sent]));
  }

  /** Whose publication it was that isn't kept any more nobody knows: only where all are kept. */
  eraseUser(channel: string, user: string): void {
    if (!keepsAll(channel)) return;
    const all = this.#texts.filter((sent) => sent.channel === channel && sent.user === user);
    if (all.some(({ isBusy }) => isBusy)) return;
    for (const sent of all) sent.isBusy = true;
    this.#ask(channel, { method: "erase", request: { epoch: "", user } }, () => this.#erase(all));
  }

  read(channel: string): void {
    const askedAtMs = this.#context.timeline.nowMs;
    const request = { limit: -1, reverse: false };
    callChannel(this.#context, channel, { method: "history", request }, (answer) => {
      if (answer === undefined || "error" in answer) return;
      const { publications }: { publications: readonly ReceivedPublication[] } = JSON.parse(
        answer.result,
      );
      this.#context.changes.given("the backend", channel, publications, askedAtMs);
    });
  }

  #changed(
    sent: SentText,
    before: readonly string[],
    { version, suppressed, suppress_reason: reason }: Result,
  ): void {
    const { nowMs } = this.#context.timeline;
    sent.isBusy = false;
    // Of a publication that isn't kept any more a change may be.
    if (suppressed === true && reason !== "idempotency") return;
    this.#context.changes.gone(before, nowMs);
    if (suppressed === true || version === undefined) return;
    this.#context.changes.changed(sent.channel, sent.offset, version, nowMs);
  }

  #erase(all: readonly SentText[]): void {
    const { timeline, changes } = this.#context;
    for (const sent of all) {
      sent.isBusy = false;
      sent.isGone = true;
      changes.erased(sent.texts, timeline.nowMs, timeline.moment);
      const erased = this.#erased.get(sent.channel) ?? new Set();
      this.#erased.set(sent.channel, erased);
      for (const text of sent.texts) erased.add(text);
      changes.stored(sent.channel, this.#context.channel(sent.channel).stored(), erased);
    }
  }

  #common({ offset }: SentText, text: string) {
    return { offset, epoch: "", idempotencyKey: keyOf(text) };
  }

  /** One of those that can be changed. @param index from the oldest one on, or, below 0, from the newest one back */
  #pick(channel: string, index: number): SentText | undefined {
    const free = this.#texts.filter(
      (sent) => sent.channel === channel && !sent.isBusy && !sent.isGone,
    );
    const sent = free.at(index % Math.max(free.length, 1));
    if (sent !== undefined) sent.isBusy = true;
    return sent;
  }

  #newText(): string {
    return `text-${++this.#sent}~`;
  }

  #ask(channel: string, operation: ChannelOperation, done: (result: Result) => void): void {
    this.pending++;
    const ask = (): void =>
      callChannel(this.#context, channel, operation, (answer) => {
        if (answer === undefined || "error" in answer) {
          this.#context.timeline.after(this.#backoffMs(), ask);
          return;
        }
        this.pending--;
        const result: Result = JSON.parse(answer.result);
        done(result);
      });
    ask();
  }
}

/** The idempotency key of a request, which stays in a row when its text is erased. */
function keyOf(text: string): string {
  return text.replace("text", "key");
}

interface Result {
  readonly offset?: number;
  readonly version?: number;
  readonly suppressed?: boolean;
  readonly suppress_reason?: string;
}

/** A publication of the backend. */
interface SentText {
  readonly channel: string;
  readonly user: string;
  readonly offset: number;
  /** Its text. */
  readonly texts: string[];
  isBusy: boolean;
  isGone: boolean;
}
