import { runInDurableObject } from "cloudflare:test";
import type { Holder } from "./place.ts";

/** Has an object answer nothing, until the returned function is called. */
export function blockObject(object: Holder): () => Promise<void> {
  const hanging = new Set([object]);
  const hung = runInDurableObject<DurableObject, void>(object, (_, state) =>
    state.blockConcurrencyWhile(async () => {
      while (hanging.size > 0) await new Promise((resolve) => setTimeout(resolve, 10));
    }),
  );
  return () => {
    hanging.clear();
    return hung;
  };
}
