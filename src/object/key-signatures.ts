import { limits } from "../limits.ts";
import type { SubRefreshRequest } from "../protocol/command.ts";
import type { VerifiedTokens } from "../session/ports.ts";
import type { Session } from "../session/session.ts";
import type { TokenBucket } from "../session/token-bucket.ts";
import type { Verifier } from "./platform.ts";

/** Takes as many tokens as the signatures cost; false if the client sends too many. */
export function takeForSignatures(
  bucket: TokenBucket,
  { length }: SubRefreshRequest["track"],
  nowMs: number,
): boolean {
  for (let left = length; left > 0; left -= limits.signaturesPerToken)
    if (bucket.spend(nowMs) !== "granted") return false;
  return true;
}

/** Verifies signatures for the session's user, who isn't known before the connect is answered. */
export function verifyTracks(
  session: Session,
  { channel, track }: SubRefreshRequest,
  verifier: Verifier,
  nowMs: number,
  done: (tokens: VerifiedTokens) => void,
): void {
  if (!session.hasConnected || session.connecting)
    done({ tracks: track.map(() => ({ outcome: "unavailable" })) });
  else verifier.tracks(track, session.user, channel, nowMs, (tracks) => done({ tracks }));
}
