import { subscriptionTypes } from "../../../src/protocol/command.ts";
import type { ReceivedPublication, Subscriber } from "./client-subscription.ts";
import { receiptsOf } from "./cursor-kinds.ts";
import { MirrorSubscription } from "./mirror-subscription.ts";
import type { WorldContext } from "./world-context.ts";

/** One client's subscriptions to the receipts of a channel: what each of its users has read (rules CU36 and CU39). */
export class ReceiptSubscription extends MirrorSubscription {
  /** The marks as the client has them; those of the last subscription once it has ended. */
  readonly #marks = new Map<string, ShownMark>();
  readonly #shown: string;
  readonly #context: WorldContext;

  constructor(channel: string, subscriber: Subscriber) {
    super(channel, subscriptionTypes.map_receipts, subscriber);
    this.#shown = receiptsOf(channel) ?? "";
    this.#context = subscriber.context;
  }

  /** When all is quiet, the client has all marks of the channel's epoch, and no others. */
  override checkAt(): void {
    const { marks, top } = this.#context.channel(this.#shown);
    const marked = [...marks].filter(([, { epoch }]) => epoch === top?.epoch);
    const [is, should] = [textOf([...this.#marks]), textOf(marked)];
    if (is !== should) this.complain(`has ${is}, and marked is ${should}`);
  }

  protected override clear(): void {
    this.#marks.clear();
  }

  protected override has(key: string): boolean {
    return this.#marks.has(key);
  }

  protected override change({ key = "", removed, data }: ReceivedPublication): void {
    if (removed === true) {
      this.#marks.delete(key);
      return;
    }
    if (!isShownMark(data)) {
      this.complain(`has ${JSON.stringify(data)} for ${key}`);
      return;
    }
    this.#context.cursors.shown(this.#shown, key, data, this.#marks.get(key));
    this.#marks.set(key, data);
  }
}

/** The value of a key. */
interface ShownMark {
  readonly epoch: string;
  readonly read: number;
}

function isShownMark(data: unknown): data is ShownMark {
  if (typeof data !== "object" || data === null) return false;
  return "epoch" in data && "read" in data && typeof data.read === "number";
}

/** A user who has marked the beginning alone has read nothing. */
function textOf(
  marks: readonly (readonly [user: string, mark: { readonly read: number }])[],
): string {
  return marks
    .filter(([, { read }]) => read > 0)
    .map(([user, { read }]) => `${user} ${read}`)
    .sort()
    .join();
}
