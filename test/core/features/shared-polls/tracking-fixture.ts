import type { KeyChange } from "../../../../src/features/shared-polls/poll-batch.ts";
import type { RelayReply, RelayRequest } from "../../../../src/contract/relay-request.ts";
import type { SubscriptionSnapshot } from "../../../../src/contract/session-snapshot.ts";
import { GatewayTracking } from "../../../../src/features/shared-polls/gateway-tracking.ts";
import { errorCodes } from "../../../../src/protocol/codes.ts";
import { jsonCodec } from "../../../../src/protocol/json/codec.ts";
import type { StoredTracks } from "../../../../src/features/shared-polls/local-tracks.ts";
import { Subscription } from "../../../../src/session/subscription.ts";
import type { TrackReply } from "../../../../src/features/shared-polls/tracking.ts";
import { textOf } from "../../../support/text-of.ts";
import { json } from "../../api/channel-config.ts";
import { longValue } from "../../../support/long-value.ts";
import { unanswered } from "../../session/test-connection.ts";

/** The channel of the fixture, and the instance of its object. */
export const channel = "prices:eu";
export const instance = 5;

/** A gateway's tracking. The channel's object answers when a test says so. */
export class Fixture {
  readonly requests: (readonly [RelayRequest, (reply: RelayReply) => void])[] = [];
  readonly rows = new Map<string, StoredTracks>();
  /** How many rows were written or deleted. */
  stores = 0;
  tracking = this.#new();

  #new(): GatewayTracking {
    return new GatewayTracking({
      request: (_, request, done) => this.requests.push([request, done]),
      queueMaxBytes: 1_000,
      keysMax: () => 100_000,
      rows: {
        keepOnly: () => undefined,
        tracksOf: (client) => this.rows.get(client),
        store: (client, _, tracks) => {
          this.stores++;
          if (tracks === undefined) this.rows.delete(client);
          else this.rows.set(client, structuredClone(tracks));
        },
      },
    });
  }

  hibernate(...trackers: readonly Tracker[]): void {
    this.tracking = this.#new();
    for (const tracker of trackers) {
      tracker.wake(this.tracking);
      this.tracking.restore(tracker.subscription);
    }
  }

  /** Answers the oldest request to track keys. */
  answer(newer: readonly KeyChange[] = [], more: { epoch?: string; instance?: number } = {}): void {
    this.#take({ outcome: "tracking", epoch: "e", instance, newer, ...more });
  }

  fail(): void {
    this.#take({ outcome: "failed", error: errorCodes.tooManyRequests });
  }

  /** Takes changes of the channel's object, and sends them. */
  take(
    changes: readonly KeyChange[],
    more: { epoch?: string; instance?: number; since?: number } = {},
  ) {
    const batch = { v: 1, channel, instance, epoch: "e", changes, ...more } as const;
    const reply = this.tracking.receive(batch, 0);
    while (this.tracking.sending) this.tracking.sendSlice();
    return reply;
  }

  /** The requests since the last call, in a short form. */
  asked(): readonly string[] {
    return this.requests.splice(0).map(([request]) => shownRequest(request));
  }

  #take(reply: RelayReply): void {
    const [, done] = this.requests.shift() ?? [];
    if (done === undefined) throw new Error("nothing is asked");
    done(reply);
  }
}

/** A connection that tracks keys. */
export class Tracker {
  subscription: Subscription;
  /** What it was sent, or `lost`. */
  readonly received: string[] = [];
  readonly replies: TrackReply[] = [];
  /** Of each publication, whether it was a delta. */
  readonly deltas: boolean[] = [];
  readonly #client: string;
  #tracking: GatewayTracking;

  constructor(client: string, { tracking }: Fixture, delta = false, pollEpoch = "e") {
    this.#client = client;
    this.#tracking = tracking;
    this.subscription = this.#newSubscription({ ...granted, delta, pollEpoch });
  }

  /** The gateway hibernated: the session was restored. */
  wake(tracking: GatewayTracking): void {
    this.#tracking = tracking;
    this.subscription = this.#newSubscription(this.subscription.granted);
  }

  track(...keys: (string | readonly [string, bigint])[]): void {
    const items = keys.map((each) => {
      const [key, version] = typeof each === "string" ? ([each, 0n] as const) : each;
      return { key, version, endsAtMs: Infinity };
    });
    this.#tracking.track(this.subscription, items, 0, (reply) => this.replies.push(reply));
  }

  #newSubscription(snapshot: SubscriptionSnapshot): Subscription {
    const socket = {
      send: (frame: string | Uint8Array) => {
        this.received.push(...pubsOf(textOf(frame)));
        for (const line of textOf(frame).split("\n"))
          this.deltas.push(line.includes('"delta":true'));
      },
      backlogBytes: () => 0,
    };
    const session = {
      ...unanswered,
      hasRoomForCursor: () => true,
      save: () => undefined,
      subscriptionChanged: () => undefined,
      disconnect: () => undefined,
      insufficientState: (subscription: Subscription) => {
        this.received.push("lost");
        this.#tracking.leave(subscription);
      },
    };
    const info = { user: "42", client: this.#client };
    return new Subscription(info, snapshot, jsonCodec, socket, session);
  }
}

const granted: SubscriptionSnapshot = {
  channel,
  expireAtSeconds: 0,
  present: false,
  announced: false,
  hearsJoinLeave: false,
  pollEpoch: "e",
};

/** A version of a key, whose value is the version. */
export const change = (key: string, version: number): KeyChange => ({
  key,
  version: BigInt(version),
  data: json(`${version}`),
  offset: 0,
});

/** A version of the key `a`, so long that a delta is shorter. */
export const long = (version: number): KeyChange => ({
  ...change("a", version),
  data: json(longValue(version)),
});

function pubsOf(frame: string): readonly string[] {
  return frame.split("\n").map((line) => {
    const { push }: { push: { pub: { key: string; version?: number } } } = JSON.parse(line);
    return `${push.pub.key}@${push.pub.version ?? "removed"}`;
  });
}

/** A request in a short form. */
export function shownRequest(request: RelayRequest): string {
  if (request.method === "untrack") return `untrack ${request.keys.join()}`;
  if (request.method !== "track") return request.method;
  return `track ${request.known.map(({ key, version }) => `${key}@${version}`).join()}`;
}
