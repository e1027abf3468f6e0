import { runInDurableObject } from "cloudflare:test";
import type { Holder } from "./place.ts";

/** What a crash is called: the runtime's log names it. */
const crashReason = "crashed by a test";

/**
 * Crashes an object: nothing of its memory is left, and no code of it runs any more. Its storage is what was committed. A
 * stub from before is of no use afterwards.
 */
export async function crashObject(object: Holder): Promise<void> {
  try {
    await runInDurableObject<DurableObject, void>(object, (_, state) => state.abort(crashReason));
  } catch (error) {
    if (!(error instanceof Error) || !error.message.includes(crashReason)) throw error;
  }
}

/** What the platform throws for a call that it lost. */
export function lostCall(): Promise<never> {
  return Promise.reject(new Error("Network connection lost."));
}
