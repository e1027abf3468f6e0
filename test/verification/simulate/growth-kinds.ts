/** The maps of a world whose values grow: one namespace for each name. */
import { namespaceOf } from "./namespace-of.ts";

/**
 * `text:` stores what is appended in short windows, `long:` in long ones and with a short stream, `sure:` at once; `memo:` is in
 * the memory of its object.
 */
export const growthKinds = ["text:t", "long:l", "sure:s", "memo:m"];

/** What matters of a map whose values grow; undefined of another channel. */
export function growthKindOf(channel: string): GrowthKind | undefined {
  return kinds[namespaceOf(channel)];
}

/** See {@link growthKindOf}. */
export interface GrowthKind {
  readonly isEphemeral: boolean;
  /** How long what is appended may wait to be durable, ms. */
  readonly windowMs: number;
  /** After how long a key ends that isn't changed, ms; 0: it doesn't. */
  readonly keyTtlMs: number;
}

const kinds: Readonly<Record<string, GrowthKind>> = {
  text: { isEphemeral: false, windowMs: 400, keyTtlMs: 40_000 },
  long: { isEphemeral: false, windowMs: 3_000, keyTtlMs: 0 },
  sure: { isEphemeral: false, windowMs: 0, keyTtlMs: 10_000 },
  memo: { isEphemeral: true, windowMs: 400, keyTtlMs: 30_000 },
};

const open = {
  subscription_type: "map",
  presence: true,
  allow_subscribe_for_client: true,
  allow_presence_for_client: true,
  allowed_delta_types: ["fossil"],
};

const shared = {
  allow_publish_for_client: true,
  min_page_size: 1,
  default_page_size: 2,
  max_page_size: 4,
};

/** How the configuration describes them. */
export const growthNamespaces: readonly object[] = [
  namespaceWith("text", { mode: "recoverable", stream_size: 1_000, stream_ttl: "1h" }),
  namespaceWith("long", { mode: "persistent", stream_size: 6, stream_ttl: "1m" }),
  namespaceWith("sure", { mode: "recoverable", stream_size: 1_000, stream_ttl: "1h" }),
  namespaceWith("memo", { mode: "ephemeral" }),
];

function namespaceWith(name: string, map: object): object {
  const { windowMs = 0, keyTtlMs = 0 } = kinds[name] ?? {};
  const times = {
    append_window: `${windowMs}ms`,
    ...(keyTtlMs > 0 && { key_ttl: `${keyTtlMs}ms` }),
  };
  return { ...open, name, map: { ...shared, ...map, ...times } };
}
