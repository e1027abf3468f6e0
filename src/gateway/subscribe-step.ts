import type { SubscribeOptions } from "../channel/channel-outcomes.ts";
import {
  isAtTop,
  recover,
  recoverNewest,
  type Recovery,
  withoutOutgrown,
} from "../channel/recovery.ts";
import type { ClientConfig } from "../config/config.ts";
import { publicationBytes } from "../contract/relay-batch.ts";
import { limits } from "../limits.ts";
import { errorCodes } from "../protocol/codes.ts";
import type { Publication, StreamPosition } from "../protocol/publication.ts";
import type { SubscribeReply } from "../session/channels.ts";
import { sameStream } from "./cursor.ts";
import type { ReplayBuffer } from "./replay-buffer.ts";

/** The next step of a subscribe. */
type SubscribeStep =
  | { readonly outcome: "reply"; readonly reply: SubscribeReply }
  /** The publications after this position must be read first. */
  | { readonly outcome: "read"; readonly since: StreamPosition }
  /** The newest publication must be read first. */
  | { readonly outcome: "read-newest"; readonly position: StreamPosition }
  /** The client has been beyond the cursor, on another gateway: this gateway must catch up first. */
  | { readonly outcome: "catch-up"; readonly position: StreamPosition };

/**
 * Decides what a subscribe needs next. It needs nothing from the channel object if the replay buffer has the
 * publications.
 *
 * @param position the position of the cursor; undefined on a channel without history
 * @param caughtUp whether the gateway has caught up for this subscribe already
 */
export function decideSubscribe(
  options: SubscribeOptions,
  position: StreamPosition | undefined,
  buffer: ReplayBuffer,
  caughtUp: boolean,
  client: ClientConfig,
): SubscribeStep {
  const { since } = options;
  if (!options.positioned || position === undefined) return replyStep(subscribed(undefined));
  if (since === undefined) return replyStep(subscribed(position));
  const isSame = sameStream(since, position);
  if (isSame && beginsAt(options) > position.offset && !caughtUp) {
    return { outcome: "catch-up", position };
  }
  if (options.mode === "cache") {
    // Before the first publication there is nothing to read, and a client that has the newest one is sent nothing.
    if (buffer.last === undefined && position.offset > 0 && !isAtTop(since, position)) {
      return { outcome: "read-newest", position };
    }
    return replyStep(newestReply(options, since, position, buffer.last, client));
  }
  if (!isSame) return replyStep(notRecovered(options, position));
  if (since.offset >= position.offset) {
    return replyStep(streamReply(options, since, position, [], client));
  }
  const missed = buffer.since(since.offset);
  if (missed === undefined) {
    return { outcome: "read", since: { epoch: position.epoch, offset: since.offset } };
  }
  return replyStep(streamReply(options, since, position, missed, client));
}

/** The offset that the gateway has to have reached before the subscription begins. */
export function beginsAt({ since, readOffset = 0 }: SubscribeOptions): number {
  return Math.max(since?.offset ?? 0, readOffset);
}

/**
 * The reply to a subscribe that recovers the publications after `since` (rules R1 to R4).
 *
 * @param missed every publication after `since`, up to the position; undefined if they can't be read any more
 */
export function streamReply(
  options: SubscribeOptions,
  since: StreamPosition,
  position: StreamPosition,
  missed: readonly Publication[] | undefined,
  client: ClientConfig,
): SubscribeReply {
  const limit = client.recoveryMaxPublicationLimit;
  const fits = missed !== undefined && fitsReply(withoutOutgrown(missed), client);
  return recovered(options, position, recover(since, position, fits ? missed : undefined, limit));
}

/**
 * The reply to a subscribe that recovers the newest publication (docs/protocol.md 2.4).
 *
 * @param newest the publication at the position; undefined if it can't be read any more
 */
export function newestReply(
  options: SubscribeOptions,
  since: StreamPosition,
  position: StreamPosition,
  newest: Publication | undefined,
  client: ClientConfig,
): SubscribeReply {
  const fits = newest !== undefined && fitsReply([newest], client);
  return recovered(options, position, recoverNewest(since, position, fits ? newest : undefined));
}

/** The subscription begins without the missed publications or, if the client wants that, not at all (rule R5). */
function notRecovered({ orFail }: SubscribeOptions, position: StreamPosition): SubscribeReply {
  return orFail
    ? { outcome: "failed", error: errorCodes.unrecoverablePosition }
    : subscribed(position);
}

function recovered(
  options: SubscribeOptions,
  position: StreamPosition,
  recovery: Recovery,
): SubscribeReply {
  if (recovery.outcome === "unrecoverable") return notRecovered(options, position);
  return { outcome: "subscribed", position, recovered: true, publications: recovery.publications };
}

function subscribed(position: StreamPosition | undefined): SubscribeReply {
  return {
    outcome: "subscribed",
    recovered: false,
    publications: [],
    ...(position === undefined ? {} : { position }),
  };
}

function replyStep(reply: SubscribeReply): SubscribeStep {
  return { outcome: "reply", reply };
}

/** A subscriber that was sent more at once would be cut as slow, come back, and be sent the same again (rule R4). */
function fitsReply(publications: readonly Publication[], client: ClientConfig): boolean {
  const bytes = publications.reduce((sum, publication) => sum + publicationBytes(publication), 0);
  return bytes <= client.queueMaxSizeBytes - limits.answerRestBytes;
}
