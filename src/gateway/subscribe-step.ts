import type { JoinWish } from "../channel/channel.ts";
import { recover, recoverNewest, type Recovery } from "../channel/recovery.ts";
import type { ClientConfig } from "../config/config.ts";
import { limits } from "../limits.ts";
import { errorCodes } from "../protocol/codes.ts";
import type { Publication, StreamPosition } from "../protocol/publication.ts";
import type { JoinAnswer } from "../session/ports.ts";
import { publicationBytes } from "../contract/relay-batch.ts";
import { sameStream } from "./cursor.ts";
import type { Window } from "./replay-buffer.ts";

/** How a subscriber's wish goes on, on a gateway that stands at a position. */
export type JoinStep =
  | { readonly outcome: "answer"; readonly answer: JoinAnswer }
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
export function decideJoin(
  wish: JoinWish,
  position: StreamPosition | undefined,
  window: Window,
  caughtUp: boolean,
  client: ClientConfig,
): JoinStep {
  const { since } = wish;
  if (!wish.positioned || position === undefined) return answerWith(joined(undefined));
  if (since === undefined) return answerWith(joined(position));
  const isSame = sameStream(since, position);
  if (isSame && since.offset > position.offset && !caughtUp) {
    return { outcome: "catch-up", position };
  }
  if (wish.mode === "cache") {
    // Before the first publication there is none to be read.
    if (window.last === undefined && position.offset > 0) {
      return { outcome: "read-newest", position };
    }
    return answerWith(answerNewest(wish, since, position, window.last, client));
  }
  if (!isSame) return answerWith(notRecovered(wish, position));
  if (since.offset >= position.offset) {
    return answerWith(answerStream(wish, since, position, [], client));
  }
  const missed = window.since(since.offset);
  if (missed === undefined) {
    return { outcome: "read", since: { epoch: position.epoch, offset: since.offset } };
  }
  return answerWith(answerStream(wish, since, position, missed, client));
}

/**
 * Answers who recovers a stream.
 *
 * @param missed everything after `since`, up to the position; undefined when it can't be had
 */
export function answerStream(
  wish: JoinWish,
  since: StreamPosition,
  position: StreamPosition,
  missed: readonly Publication[] | undefined,
  client: ClientConfig,
): JoinAnswer {
  const limit = client.recoveryMaxPublicationLimit;
  const fits = missed !== undefined && fitsAnswer(missed, client);
  return recovered(wish, position, recover(since, position, fits ? missed : undefined, limit));
}

/**
 * Answers who recovers from the newest publication.
 *
 * @param newest the one at the position; undefined when it is gone
 */
export function answerNewest(
  wish: JoinWish,
  since: StreamPosition,
  position: StreamPosition,
  newest: Publication | undefined,
  client: ClientConfig,
): JoinAnswer {
  const fits = newest !== undefined && fitsAnswer([newest], client);
  return recovered(wish, position, recoverNewest(since, position, fits ? newest : undefined));
}

/** The subscription begins without what was missed, or not at all if that was the wish (rule R5). */
function notRecovered({ orFail }: JoinWish, position: StreamPosition): JoinAnswer {
  return orFail ? { outcome: "failed", error: errorCodes.unrecoverablePosition } : joined(position);
}

function recovered(wish: JoinWish, position: StreamPosition, recovery: Recovery): JoinAnswer {
  if (recovery.outcome === "unrecoverable") return notRecovered(wish, position);
  return { outcome: "joined", position, recovered: true, publications: recovery.publications };
}

function joined(position: StreamPosition | undefined): JoinAnswer {
  return {
    outcome: "joined",
    recovered: false,
    publications: [],
    ...(position === undefined ? {} : { position }),
  };
}

function answerWith(answer: JoinAnswer): JoinStep {
  return { outcome: "answer", answer };
}

/** A subscriber that was sent more at once would be cut as slow, come back, and be sent it again. */
function fitsAnswer(publications: readonly Publication[], client: ClientConfig): boolean {
  const bytes = publications.reduce((sum, publication) => sum + publicationBytes(publication), 0);
  return bytes <= client.queueMaxSizeBytes - limits.answerRestBytes;
}
