import { runInDurableObject } from "cloudflare:test";
import type { MetricsObject } from "../../../workers/edge.ts";
import type { Holder } from "./place.ts";

/** The reason of a crash, which the runtime's log names. */
const crashReason = "crashed by a test";

/**
 * Crashes an object: its memory is lost and its code stops. Its storage holds what was committed. A stub from before is
 * useless afterwards.
 */
export async function crashObject(
  object: Holder | DurableObjectStub<MetricsObject>,
): Promise<void> {
  try {
    await runInDurableObject<DurableObject, void>(object, (_, state) => state.abort(crashReason));
  } catch (error) {
    if (!(error instanceof Error) || !error.message.includes(crashReason)) throw error;
  }
}

/** The platform's error for a lost call. */
export function lostCall(): Promise<never> {
  return Promise.reject(new Error("Network connection lost."));
}
