import { boundedTtlSeconds } from "../../session/liveness.ts";
import type { TrackVerdict } from "../../access/key-signature.ts";
import type { SharedPollOptions } from "./config.ts";
import { isKey } from "../maps/map-call.ts";
import { limits } from "../../limits.ts";
import { type ErrorCode, errorCodes } from "../../protocol/codes.ts";
import { type SubRefreshRequest, subRefreshTypes } from "../../protocol/command.ts";
import type { TrackedKey } from "./tracked-keys.ts";
import { badRequest, type Decision, failWith, refuse, refuseWith } from "../../session/decision.ts";
import { mayTrack } from "./may.ts";
import type { TrackChange } from "../../session/ports.ts";
import { isTracking } from "./tracking.ts";
import { mayRead } from "../../session/rate-limit.ts";

/**
 * Carries out a `sub_refresh` that tracks keys of a shared poll, or ceases to (docs/protocol.md 3.5, rules SP1 and
 * SP6).
 */
export function changeTracks({
  session,
  id,
  request,
  subscription,
  options,
  tokens,
  nowMs,
  done,
}: TrackChange): void {
  const tracking = session.context.channels.parts.find(isTracking);
  const { sharedPoll } = options;
  if (tracking === undefined || sharedPoll === undefined) {
    done(badRequest);
    return;
  }
  if (request.type === subRefreshTypes.untrack) {
    tracking.untrack(subscription, request.untrack);
    done({ outcome: "reply", reply: { id, method: "sub_refresh", result: { ttlSeconds: 0 } } });
    return;
  }
  const read = readTracks(request, tokens.tracks ?? [], sharedPoll);
  if (read.outcome !== "read") {
    done(read);
    return;
  }
  if (!mayRead(session, nowMs)) {
    done(failWith(errorCodes.tooManyRequests));
    return;
  }
  tracking.untrack(subscription, request.untrack);
  tracking.track(subscription, read.keys, nowMs, (reply) => {
    if (reply.outcome === "failed") {
      const isFull = reply.error.code === errorCodes.limitExceeded.code;
      done(isFull ? refuseWith(reply.error, "SP9", tooManyKeys) : failWith(reply.error));
      return;
    }
    const result = { ttlSeconds: ttlSeconds(read.expireAtSeconds, nowMs), items: reply.newer };
    // With an error the client takes nothing for tracked, and has none of the values.
    const untrack = (): void => {
      const keys = read.keys.map(({ key }) => key);
      tracking.untrack(subscription, keys);
    };
    done({
      outcome: "reply",
      reply: { id, method: "sub_refresh", result },
      refused: untrack,
    });
  });
}

/** The keys of a request, and when the first signature expires, seconds since 1970; Infinity for never. */
interface Tracks {
  readonly outcome: "read";
  readonly keys: readonly TrackedKey[];
  readonly expireAtSeconds: number;
}

/**
 * Reads the keys of a request: all of them, or none. Of equal keys the last one counts. Keys that the same request
 * untracks are signed with the others, but not tracked.
 */
function readTracks(
  { track, untrack }: SubRefreshRequest,
  verdicts: readonly TrackVerdict[],
  { trackExpiredExtraDelayMs }: SharedPollOptions,
): Tracks | Decision {
  if (track.length === 0) return refused(errorCodes.badRequest, "no keys are given to track");
  const keys = new Map<string, TrackedKey>();
  let expireAtSeconds = Number.POSITIVE_INFINITY;
  for (const [index, { items }] of track.entries()) {
    const may = mayTrack(verdicts[index] ?? { outcome: "invalid" });
    if (!may.allowed) return refuse(may);
    const endSeconds = may.expireAtSeconds || Number.POSITIVE_INFINITY;
    expireAtSeconds = Math.min(expireAtSeconds, endSeconds);
    const endsAtMs = endSeconds * 1_000 + trackExpiredExtraDelayMs;
    for (const { key, version } of items) {
      if (!isKey(key))
        return refused(
          errorCodes.badRequest,
          `a key is empty, exceeds ${limits.mapKeyBytesMax} bytes, or isn't well-formed Unicode`,
        );
      keys.set(key, { key, version, endsAtMs });
    }
  }
  for (const key of untrack) keys.delete(key);
  return { outcome: "read", keys: [...keys.values()], expireAtSeconds };
}

const tooManyKeys = "the connection or the channel has too many tracked keys";

/** @param reason for the log; it quotes no key */
function refused(error: ErrorCode, reason: string): Decision {
  return refuseWith(error, "SP1", reason);
}

/**
 * In how many seconds the client has to send a new signature; 0 for never. One that has just expired is due at once.
 */
function ttlSeconds(expireAtSeconds: number, nowMs: number): number {
  if (expireAtSeconds === Number.POSITIVE_INFINITY) return 0;
  return boundedTtlSeconds(Math.ceil(expireAtSeconds - nowMs / 1_000));
}
