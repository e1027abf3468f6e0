import type { SubscribeOptions } from "../channel/channel.ts";
import { recover, recoverNewest, type Recovery } from "../channel/recovery.ts";
import type { ClientConfig } from "../config/config.ts";
import { limits } from "../limits.ts";
import { errorCodes } from "../protocol/codes.ts";
import type { Publication, StreamPosition } from "../protocol/publication.ts";
import type { SubscribeReply } from "../session/ports.ts";
import { publicationBytes } from "../contract/relay-batch.ts";
import { sameStream } from "./cursor.ts";
import type { ReplayBuffer } from "./replay-buffer.ts";

/** How a subscriber's wish goes on, on a gateway that stands at a position. */
export type SubscribeStep =
  | { readonly outcome: "answer"; readonly answer: SubscribeReply }
  /** What came after this must be read first. */
  | { readonly outcome: "read"; readonly since: StreamPosition }
  /** The newest publication must be read first. */
  | { readonly outcome: "read-newest"; readonly position: StreamPosition }
  /** The subscriber has been further than the gateway, on another one: the gateway must catch up first. */
  | { readonly outcome: "catch-up"; readonly position: StreamPosition };

/**
 * Decides what a subscriber's wish needs, without asking anybody where that isn't needed.
 *
 * @param position where the gateway stands; undefined on a channel without history
 * @param caughtUp whether it has caught up for this subscriber already
 */
export function decideSubscribe(
  options: SubscribeOptions,
  position: StreamPosition | undefined,
  buffer: ReplayBuffer,
  caughtUp: boolean,
  client: ClientConfig,
): SubscribeStep {
  const { since } = options;
  if (!options.positioned || position === undefined) return answerWith(subscribed(undefined));
  if (since === undefined) return answerWith(subscribed(position));
  const isSame = sameStream(since, position);
  if (isSame && since.offset > position.offset && !caughtUp) {
    return { outcome: "catch-up", position };
  }
  if (options.mode === "cache") {
    // Before the first publication there is none to be read.
    if (buffer.last === undefined && position.offset > 0) {
      return { outcome: "read-newest", position };
    }
    return answerWith(answerNewest(options, since, position, buffer.last, client));
  }
  if (!isSame) return answerWith(notRecovered(options, position));
  if (since.offset >= position.offset) {
    return answerWith(answerStream(options, since, position, [], client));
  }
  const missed = buffer.since(since.offset);
  if (missed === undefined) {
    return { outcome: "read", since: { epoch: position.epoch, offset: since.offset } };
  }
  return answerWith(answerStream(options, since, position, missed, client));
}

/**
 * Answers who recovers a stream.
 *
 * @param missed everything after `since`, up to the position; undefined when it can't be had
 */
export function answerStream(
  options: SubscribeOptions,
  since: StreamPosition,
  position: StreamPosition,
  missed: readonly Publication[] | undefined,
  client: ClientConfig,
): SubscribeReply {
  const limit = client.recoveryMaxPublicationLimit;
  const fits = missed !== undefined && fitsAnswer(missed, client);
  return recovered(options, position, recover(since, position, fits ? missed : undefined, limit));
}

/**
 * Answers who recovers from the newest publication.
 *
 * @param newest the one at the position; undefined when it is gone
 */
export function answerNewest(
  options: SubscribeOptions,
  since: StreamPosition,
  position: StreamPosition,
  newest: Publication | undefined,
  client: ClientConfig,
): SubscribeReply {
  const fits = newest !== undefined && fitsAnswer([newest], client);
  return recovered(options, position, recoverNewest(since, position, fits ? newest : undefined));
}

/** The subscription begins without what was missed, or not at all if that was the wish (rule R5). */
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

function answerWith(answer: SubscribeReply): SubscribeStep {
  return { outcome: "answer", answer };
}

/** A subscriber that was sent more at once would be cut as slow, come back, and be sent it again. */
function fitsAnswer(publications: readonly Publication[], client: ClientConfig): boolean {
  const bytes = publications.reduce((sum, publication) => sum + publicationBytes(publication), 0);
  return bytes <= client.queueMaxSizeBytes - limits.answerRestBytes;
}
