import type { PusherApp } from "../../../../src/features/pusher/config.ts";
import { namespaceOf } from "../namespace-of.ts";

/** The application of a world. */
export const pusherApp = {
  id: "app",
  key: "app-key",
  secret: "PUSHER_SECRET_APP",
  namespace: "app",
} as const satisfies Partial<PusherApp>;

/** The section of the configuration. */
export const pusherSection = { apps: [{ ...pusherApp, enable_client_messages: true }] };

export const pusherNamespaces: readonly object[] = [
  {
    name: pusherApp.namespace,
    presence: true,
    allow_subscribe_for_client: true,
    allow_publish_for_client: true,
    allow_presence_for_client: true,
    allow_history_for_client: true,
    history_size: 1_000,
    history_ttl: "1h",
    history_meta_ttl: "24h",
    force_recovery: true,
  },
];

/** A channel of the application of each kind. */
export const pusherKinds: readonly string[] = ["app:news", "app:private-room", "app:presence-room"];

/** Whether a channel is one of the application. */
export function isPusher(channel: string): boolean {
  return namespaceOf(channel) === pusherApp.namespace;
}

/** Whether a publication is an event that a client of the Pusher protocol sent to the others, which no history keeps. */
export function isPassing({
  tags,
}: {
  readonly tags?: Readonly<Record<string, string>> | undefined;
}): boolean {
  return tags?.["event"] === saidEvent;
}

/** The event that clients send. */
export const saidEvent = "client-said";

/** The gateways of clients that speak the Pusher protocol. */
export const pusherGateways: readonly string[] = ["pusher~any/1", "pusher~any/2"];
