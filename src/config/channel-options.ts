import { limits } from "../limits.ts";
import { readTexts } from "./fields.ts";
import type { Options } from "./option.ts";
import { readPattern } from "./regex.ts";
import type { Section } from "./section.ts";

/** `channel.*`: the syntax of the names of channels (docs/protocol.md 5.4). */
export const nameOptions = {
  /** The most bytes of a channel's name. */
  max_length: { is: "whole", default: 255, min: 1, max: 1_000, unit: "Bytes" },
  /** A channel whose name begins with it can be subscribed to with a subscription token only. */
  private_prefix: { is: "text", default: "$" },
  /** The part of a name before it is the namespace. */
  namespace_boundary: { is: "text", default: ":" },
  /** In the name of a user-limited channel, it stands before the users. */
  user_boundary: { is: "text", default: "#" },
  /** In the name of a user-limited channel, it stands between the users. */
  user_separator: { is: "text", default: "," },
} as const satisfies Options;

/** The options of `channel` that a namespace inherits unless it sets them itself. */
export const inheritedOptions = {
  /** The value for namespaces that don't set it. */
  history_meta_ttl: { is: "duration", default: 2_592_000_000 },
  /**
   * The value for namespaces without one, or with `""`.
   *
   * @differs of all namespaces that have none of their own
   */
  publication_data_format: { is: "choice", of: ["", "json", "json_object", "binary"] },
} as const satisfies Options;

/** The options of a namespace about the names of its channels, and how long their positions are kept. */
export const lastingOptions = {
  /**
   * The time after the newest publication for which the channel's epoch and offset are kept; then the channel's storage is
   * deleted. A channel in which nothing was ever published is deleted three hours after its last subscriber left.
   *
   * @default that of `channel`
   */
  history_meta_ttl: { is: "duration" },
  /**
   * An expression that the name after the namespace must match; without it, names are ASCII; see
   * [below](configuration.md#expressions-for-names).
   *
   * @differs a JavaScript expression, with limits
   */
  channel_regex: { is: "text", read: readPattern },
} as const satisfies Options;

/** The options of channels with the type `stream`. Channels of other types take some of them (docs/protocol.md 5.6). */
export const streamOptions = {
  /** The subscribers of a channel can be queried. */
  presence: { is: "boolean" },
  /** Subscribers that ask for them get joins and leaves. */
  join_leave: { is: "boolean" },
  /** All subscribers get joins and leaves. */
  force_push_join_leave: { is: "boolean", needs: "join_leave" },
  /** The number of publications that are kept; needs `history_ttl`. History is off if one of the two is 0. */
  history_size: { is: "whole", default: 0, min: 0, max: limits.historySizeMax },
  /** The time for which publications are kept after the newest one; needs `history_size`. */
  history_ttl: { is: "duration" },
  /** Every subscription has a position; needs history. */
  force_positioning: { is: "boolean" },
  /** Each subscription that asks for it has a position; needs history. */
  allow_positioning: { is: "boolean" },
  /** Every subscription can recover; needs history. */
  force_recovery: { is: "boolean" },
  /**
   * `"stream"`, the default: a recovering client gets every missed publication; `"cache"`: it gets the newest publication
   * only; needs history.
   */
  force_recovery_mode: {
    is: "choice",
    as: "recoveryMode",
    of: ["", "stream", "cache"],
    zeroIs: "stream",
  },
  /** With `"cache"`: every subscriber gets the newest publication, without asking for recovery. */
  auto_cache_recover: { is: "boolean", needs: ["force_recovery_mode", "cache"] },
  /** Each subscription that asks for it can recover; needs history. */
  allow_recovery: { is: "boolean" },
  /** Only users 42 and 43 may subscribe to `room#42,43` without a subscription token. */
  allow_user_limited_channels: { is: "boolean" },
  /**
   * In `$` channels and user-limited channels, `allow_…_for_client`, and a capability of a token, open publishing, the keys
   * of maps, presence and history to subscribers only (rule A5).
   */
  limited_channels_for_subscribers_only: { is: "boolean", own: true },
  /**
   * `["fossil"]`: subscribers that ask for deltas and have a position get the change from one publication to the next, where
   * it is shorter; needs history, except for [shared polls](shared-poll.md#deltas).
   *
   * @differs `fossil`
   */
  allowed_delta_types: { is: "texts", as: "allowDelta", read: readDeltaTypes },
  /** Every publication may be sent as a delta, not only those published with `delta`; needs history. */
  delta_publish: { is: "boolean", needs: "allowed_delta_types" },
  /** Subscribers may filter publications by tags; such a subscriber gets every matching publication in full. */
  allow_tags_filter: { is: "boolean" },
} as const satisfies Options;

/** The permissions of clients in the channels of a namespace. */
export const permissionOptions = {
  /** Clients may subscribe without a subscription token. */
  allow_subscribe_for_client: { is: "boolean" },
  /** Anonymous clients may subscribe without a subscription token. */
  allow_subscribe_for_anonymous: { is: "boolean" },
  /** Clients may publish. */
  allow_publish_for_client: { is: "boolean" },
  /** Subscribers of the channel may publish. */
  allow_publish_for_subscriber: { is: "boolean" },
  /** Anonymous clients may publish. */
  allow_publish_for_anonymous: { is: "boolean" },
  /** Clients may query presence. */
  allow_presence_for_client: { is: "boolean" },
  /** Subscribers of the channel may query presence. */
  allow_presence_for_subscriber: { is: "boolean" },
  /** Anonymous clients may query presence. */
  allow_presence_for_anonymous: { is: "boolean" },
  /** Clients may read the history. */
  allow_history_for_client: { is: "boolean" },
  /** Subscribers of the channel may read the history. */
  allow_history_for_subscriber: { is: "boolean" },
  /** Anonymous clients may read the history. */
  allow_history_for_anonymous: { is: "boolean" },
} as const satisfies Options;

/** The options about the data of publications. */
export const dataOptions = {
  /**
   * `""`: any bytes, at least one; `"json"`: any JSON; `"json_object"`: a JSON object; `"binary"`: any bytes, or none. JSON
   * clients get bytes that aren't JSON as base64.
   *
   * @default that of `channel`
   */
  publication_data_format: { is: "choice", of: ["", "json", "json_object", "binary"] },
} as const satisfies Options;

/** The name of a namespace. */
export const namespaceNameOptions = {
  /**
   * The name of the namespace: two or more of `A-Z`, `a-z`, `0-9`, `-`, `_` and `.`.
   *
   * @default required
   */
  name: {
    is: "text",
    shape: /^[-a-zA-Z0-9_.]{2,}$/,
    meaning: "a namespace name: two or more of A-Z, a-z, 0-9, -, _ and .",
  },
} as const satisfies Options;

/** Whether there are delta types; there is only one. */
function readDeltaTypes(section: Section, name: string): boolean {
  return readTexts(section, name, deltaType).length > 0;
}

const deltaType = { shape: /^fossil$/, meaning: '"fossil", the only delta type' };
