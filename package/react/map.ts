import type { Centrifuge, MapEntry, MapSubscription } from "centrifuge";
import type { JsonData } from "./channel.ts";
import type { Feed, Running } from "./feed.ts";
import type { Sent } from "./messages.ts";
import {
  subscribe,
  subscribing,
  type SubscriptionState,
  type TokenGetter,
  tokenOptions,
} from "./subscription.ts";

/** What is known of a map. What was known stays while the connection is lost. */
export interface MapState<Value> extends SubscriptionState {
  readonly entries: ReadonlyMap<string, Value>;
}

export interface MapCalls {
  readonly set: (key: string, value: JsonData) => Promise<void>;
  readonly remove: (key: string) => Promise<void>;
}

/** An ordinary map, or who is there: each connection, or each user. */
export type MapKind = "data" | "clients" | "users";

export const idleMap: MapState<Sent> = { ...subscribing, entries: new Map() };

/** Subscribes to a map. */
export function beginMap(
  client: Centrifuge,
  kind: MapKind,
  channel: string,
  feed: Feed<MapState<Sent>, TokenGetter, MapCalls>,
): Running<MapCalls> {
  const subscription = newSubscription(client, kind, channel, tokenOptions(feed));
  const valueOf = ({ key, data, info = { client: "", user: key } }: MapEntry): Sent =>
    kind === "data" ? data : info;
  subscription.on("subscribed", () => feed.show({ state: "subscribed" }));
  subscription.on("sync", ({ entries }) => {
    feed.show({ entries: new Map(entries.map((entry) => [entry.key, valueOf(entry)])) });
  });
  subscription.on("update", (entry) => {
    const entries = new Map(feed.shown.entries);
    if (entry.removed === true) entries.delete(entry.key);
    else entries.set(entry.key, valueOf(entry));
    feed.show({ entries });
  });
  return {
    calls: {
      set: async (key, value) => void (await subscription.publish(key, value)),
      remove: async (key) => void (await subscription.remove(key)),
    },
    joined: subscribe(subscription, (change) => feed.show(change)),
    end: () => {
      subscription.removeAllListeners();
      client.removeMapSubscription(subscription);
    },
  };
}

function newSubscription(
  client: Centrifuge,
  kind: MapKind,
  channel: string,
  options: ReturnType<typeof tokenOptions>,
): MapSubscription {
  switch (kind) {
    case "data":
      return client.newMapSubscription(channel, options);
    case "clients":
      return client.newMapClientsSubscription(channel, options);
    case "users":
      return client.newMapUsersSubscription(channel, options);
  }
}
