import type { SubscribedContext, Subscription } from "centrifuge";
import type { Random } from "../../../support/random.ts";
import { longestMs, shortestMs } from "../clients/backoff.ts";
import type { ClientRecorder } from "../clients/client-recorder.ts";
import type { ClientsPlan, SubscriberPlan } from "../clients/plan.ts";
import { FollowingSubscriber } from "../following-subscriber.ts";
import { RecordedClient } from "../clients/recorded-client.ts";
import { socketClass } from "../clients/sdk-subscriber.ts";
import { microseconds } from "../history/clock.ts";
import { type ChangedPublication, toldOf } from "./told-publication.ts";

/** A subscriber of channels whose publications are changed, which uses the official client and records what it is shown. */
export class ChangedSubscriber extends FollowingSubscriber {
  protected override readonly client: RecordedClient;
  protected override readonly followed: readonly FollowedChanges[];

  constructor(plan: ClientsPlan, traits: SubscriberPlan, random: Random, recorder: ClientRecorder) {
    const { process, channels, deltas = false } = traits;
    super(process);
    const sockets = notedSockets(plan.hostHeader, () => {
      for (const followed of this.followed) followed.asks();
    });
    this.client = new RecordedClient(plan, traits, random, recorder, sockets);
    this.followed = channels.map((channel) => {
      const subscription = this.client.client.newSubscription(channel, {
        minResubscribeDelay: shortestMs,
        maxResubscribeDelay: longestMs,
        ...(deltas ? { delta: "fossil" } : {}),
      });
      return new FollowedChanges(subscription, process, recorder);
    });
  }
}

/** The class of the client's sockets, which says when one is open: before the client sends anything. */
function notedSockets(hostHeader: string | undefined, opened: () => void) {
  return class extends socketClass(hostHeader) {
    constructor(address: string, protocols?: string) {
      super(address, protocols);
      this.once("open", opened);
    }
  };
}

/** The publications of one channel, as the subscriber is shown them. */
class FollowedChanges {
  readonly subscription: Subscription;
  isAttached = false;
  readonly #process: string;
  readonly #recorder: ClientRecorder;
  /** When the client has asked, µs. */
  #asked = 0;

  constructor(subscription: Subscription, process: string, recorder: ClientRecorder) {
    this.subscription = subscription;
    this.#process = process;
    this.#recorder = recorder;
    subscription.on("error", () => undefined);
    subscription.on("subscribing", () => this.#detach());
    subscription.on("subscribed", (context) => this.#attach(context));
    subscription.on("publication", (publication) => this.#show(publication));
    subscription.on("unsubscribed", ({ code, reason }) => {
      this.isAttached = false;
      recorder.fail(process, `was unsubscribed from ${subscription.channel}: ${code} ${reason}`);
    });
  }

  /** The client asks now: the SDK subscribes as soon as its socket is open, or at once where one is. */
  asks(): void {
    this.#asked = microseconds();
  }

  #detach(): void {
    this.asks();
    if (!this.isAttached) return;
    this.isAttached = false;
    this.#recorder.record({ ...this.#common, type: "info", f: "change-leave" });
  }

  /** The position is the one recovered from, or the top without recovery. */
  #attach({ streamPosition }: SubscribedContext): void {
    this.isAttached = true;
    const { epoch = "", offset = 0 } = streamPosition ?? {};
    const followed = { type: "ok", f: "change-follow", asked: this.#asked, epoch, offset } as const;
    this.#recorder.record({ ...this.#common, ...followed });
  }

  #show(publication: ChangedPublication): void {
    const told = toldOf(publication);
    this.#recorder.record({ ...this.#common, ...told, type: "ok", f: "change-show" });
  }

  get #common(): { readonly time: number; readonly process: string; readonly channel: string } {
    const { channel } = this.subscription;
    return { time: microseconds(), process: this.#process, channel };
  }
}
