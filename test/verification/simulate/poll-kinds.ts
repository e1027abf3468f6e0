/** The shared polls of a world: one namespace for each name. */
import { namespaceOf } from "./namespace-of.ts";

/** `poll:` finds changes by comparing values; the backend of `vers:` gives each value a version, and names an epoch. */
export const pollKinds = ["poll:q", "vers:v"];

/** The mode of a channel; undefined if it isn't a shared poll. */
export function pollModeOf(channel: string): "versionless" | "versioned" | undefined {
  return modes[namespaceOf(channel)];
}

const modes: Readonly<Record<string, "versionless" | "versioned">> = {
  poll: "versionless",
  vers: "versioned",
};

/** How long a client gets a key after its signature has expired, ms. */
export const expiredDelayMs = 2_000;

const open = {
  subscription_type: "shared_poll",
  presence: true,
  allow_subscribe_for_client: true,
  allow_presence_for_client: true,
  allowed_delta_types: ["fossil"],
};

/** Several questions in each cycle, and cycles so close that a slow backend is still answering the one before. */
const shared = {
  refresh_interval: "2s",
  track_expired_extra_delay: "2s",
};

/** How the configuration describes them. */
export const pollNamespaces: readonly object[] = [
  { ...open, name: "poll", shared_poll: { ...shared, refresh_batch_size: 2 } },
  {
    ...open,
    name: "vers",
    shared_poll: { ...shared, refresh_batch_size: 1, mode: "versioned", publish_enabled: true },
  },
];

/** The backend that is polled. */
export const pollProxy = {
  shared_poll_refresh: { endpoint: "https://backend.example.com/poll", timeout: "5s" },
};
