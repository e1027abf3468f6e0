import { deltaChain } from "../delta/delta-chain.ts";
import type { KnownDeltas } from "../delta/known-deltas.ts";
import type { Publication } from "../protocol/publication.ts";
import type { Subscription } from "./subscription.ts";

/**
 * Recovered publications as the subscriber gets them: those that its filter lets through (reference 3.2), or the first in
 * full and the others as patches (reference 3.1). What comes next may be a patch of the last of them only if there is one.
 */
export function takenUp(
  subscription: Subscription,
  knownDeltas: KnownDeltas,
  publications: readonly Publication[],
): readonly Publication[] {
  const { filter, delta, codec, channel } = subscription;
  if (filter !== undefined) return publications.filter(({ tags }) => filter.matches(tags));
  if (!delta) return publications;
  const chain = deltaChain(publications, codec.deltaForm, channel, knownDeltas);
  const newest = publications.at(-1);
  if (newest !== undefined && chain.last !== undefined)
    subscription.taking({ ...newest, data: chain.last });
  return chain.publications;
}
