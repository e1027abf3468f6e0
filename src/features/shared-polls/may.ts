/** The permission of clients to track keys of shared polls. */
import type { TrackVerdict } from "../../access/key-signature.ts";
import { errorCodes } from "../../protocol/codes.ts";
import { denied, type NotAllowed, refused } from "../../session/may.ts";

/** Whether a client may track keys with a signature of a backend (rule SP1), and until when: 0 for no end. */
export function mayTrack(
  verdict: TrackVerdict,
): { readonly allowed: true; readonly expireAtSeconds: number } | NotAllowed {
  switch (verdict.outcome) {
    case "verified":
      return { allowed: true, expireAtSeconds: verdict.expireAtSeconds };
    case "invalid":
      return denied("SP1", "a signature isn't one of these keys for this user and channel");
    case "expired":
      return refused(errorCodes.tokenExpired, "SP1", "a signature has expired");
    case "unavailable":
      return refused(
        errorCodes.internal,
        "SP1",
        "the client tracks keys before its connect is answered",
      );
  }
}
