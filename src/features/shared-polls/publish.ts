import type { Operation } from "../../access/operations.ts";
import { limits } from "../../limits.ts";
import { utf8Fits } from "../../protocol/bytes.ts";
import { acceptsData } from "../../channel/publication-request.ts";
import {
  overLimit,
  type ParsedEntry,
  refusedFeature,
  refusedKey,
  refusedRequest,
} from "../../api/command.ts";
import {
  formatProblem,
  parsePublication,
  parseVersion,
  takesEmpty,
  publicationTexts,
} from "../../api/publish.ts";
import {
  checkChannel,
  type MethodRequest,
  shape,
  type Shaped,
  textField,
} from "../../api/shape.ts";

import type { PollPublishRequest } from "./poll-batch.ts";

/**
 * The request is refused with 107 on a channel that is no shared poll, and with 108 where
 * `shared_poll.publish_enabled` is off.
 */
function pollPublishEntry(
  { channel, key, b64data, epoch }: Shaped<typeof pollPublishShape>,
  asked: MethodRequest,
): ParsedEntry {
  const { params, caller } = asked;
  const version = parseVersion(params);
  if (typeof version === "object") return version;
  const checked = checkChannel(channel, asked);
  if (checked.outcome === "refused") return checked;
  const { sharedPoll } = checked.options;
  if (sharedPoll === undefined)
    return refusedRequest("the channel's namespace is not one of shared polls");
  if (!sharedPoll.publishEnabled)
    return refusedFeature("shared_poll.publish_enabled is off in the channel's namespace");
  const refused = refusedKey(key);
  if (refused !== undefined) return refused;
  if (version === 0n) return refusedRequest("version is required");
  if (!utf8Fits(epoch, limits.versionEpochBytesMax))
    return overLimit("epoch", limits.versionEpochBytesMax);
  const value = parsePublication(params, { ...bare, b64data }, version, () =>
    takesEmpty(checked.options),
  );
  if (value.outcome === "refused") return value;
  const { data } = value.request;
  if (!acceptsData(checked.options, data)) return refusedRequest(formatProblem(checked.options));
  const request: PollPublishRequest = { key, data, version, epoch };
  const command = { method: "shared_poll_publish", request, key: caller.key.name } as const;
  return { outcome: "call", channel, command };
}

/** A `shared_poll_publish` request, without `data` and `version`, which are read from the text. */
const pollPublishShape = shape(() => ({
  channel: textField(),
  key: textField(),
  b64data: textField(),
  epoch: textField(),
}));

/** A publication with none of the fields that a shared poll's hasn't. */
const bare = { skip_history: false, idempotency_key: "", delta: false, version_epoch: "" };

/** The row of that method. */
export const pollOperations = {
  shared_poll_publish: { at: "channel", changes: true },
} as const satisfies Readonly<Record<string, Operation>>;

type PollOperations = typeof pollOperations;

declare module "../../access/operations.ts" {
  interface Operations extends PollOperations {}
}

/** The method of shared polls (docs/protocol.md 3.5 and 6.2). */
export const pollMethods = {
  shared_poll_publish: {
    shape: pollPublishShape,
    entry: pollPublishEntry,
    texts: publicationTexts,
  },
} as const;
