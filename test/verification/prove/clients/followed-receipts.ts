import type { Centrifuge, MapSubscription } from "centrifuge";
import type { ReceiptTold } from "../../checker/cursors/cursor-event.ts";
import { microseconds } from "../history/clock.ts";
import { longestMs, shortestMs } from "./backoff.ts";
import type { ClientRecorder } from "./client-recorder.ts";

/** The receipts of one channel, as a client's program is told of them. */
export class FollowedReceipts {
  readonly subscription: MapSubscription;
  isAttached = false;
  readonly #channel: string;
  readonly #process: string;
  readonly #recorder: ClientRecorder;

  /**
   * @param channel  whose receipts they are
   * @param receipts their own channel
   */
  constructor(
    client: Centrifuge,
    { channel, receipts }: { readonly channel: string; readonly receipts: string },
    process: string,
    recorder: ClientRecorder,
  ) {
    this.#channel = channel;
    this.#process = process;
    this.#recorder = recorder;
    this.subscription = client.newMapSubscription(receipts, {
      minResubscribeDelay: shortestMs,
      maxResubscribeDelay: longestMs,
      pageSize,
    });
    this.subscription.on("error", () => undefined);
    this.subscription.on("sync", ({ entries: all }) => {
      this.isAttached = true;
      const entries = all.map(({ key, data }) => parseReceipt(key, data));
      recorder.record({ ...this.#common, type: "ok", f: "receipts", entries });
    });
    this.subscription.on("update", ({ key: user, data, removed = false }) => {
      const told = removed ? { user } : parseReceipt(user, data);
      recorder.record({ ...this.#common, type: "ok", f: "receipt", ...told });
    });
    this.subscription.on("subscribing", () => this.#detach());
    this.subscription.on("unsubscribed", ({ code, reason }) => {
      this.isAttached = false;
      recorder.fail(process, `was unsubscribed from ${receipts}: ${code} ${reason}`);
    });
  }

  /** The client won't come back. */
  leave(): void {
    this.isAttached = false;
    this.#recorder.record({ ...this.#common, type: "info", f: "receipts-end", leaves: true });
  }

  #detach(): void {
    if (!this.isAttached) return;
    this.isAttached = false;
    this.#recorder.record({ ...this.#common, type: "info", f: "receipts-end" });
  }

  get #common(): { readonly time: number; readonly process: string; readonly channel: string } {
    return { time: microseconds(), process: this.#process, channel: this.#channel };
  }
}

function parseReceipt(user: string, data: unknown): ReceiptTold {
  const { read, epoch, at_ms: atMs }: ReceiptValue = Object(data);
  return { user, read, epoch, atMs };
}

/** The value of a user's key. */
interface ReceiptValue {
  readonly read: number;
  readonly epoch: string;
  readonly at_ms: number;
}

/** Receipts have several pages of these. */
const pageSize = 3;
