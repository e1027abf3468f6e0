/**
 * What a user is known to have got of a channel: everything after `since` and up to `offset` that passes the filters of
 * the user's subscription has arrived at a client's program of the user (rule CU10).
 */
export interface Coverage {
  readonly epoch: string;
  /** Nothing is claimed of what came up to here. */
  readonly since: number;
  readonly offset: number;
  /** How the offset is known. */
  readonly by: ProofKind;
  /** When that was known at the latest, ms since 1970. */
  readonly atMs: number;
}

/**
 * ping: the client has answered a ping that was sent after these publications. recovery: a client has said from where it
 * goes on. command: a client has marked that its user has read up to here.
 */
export type ProofKind = "ping" | "recovery" | "command";

/**
 * Adds a proof of the same epoch. Of two intervals with a hole between them the later one stays, because nothing is
 * claimed of a hole; but one that is empty, and so claims nothing, never takes the place of one that isn't.
 *
 * @param kept undefined if nothing is known
 * @returns `kept` itself if the proof adds nothing
 */
export function extend(kept: Coverage | undefined, proof: Coverage): Coverage {
  if (kept === undefined) return proof;
  if (proof.since > kept.offset) return isEmpty(proof) && !isEmpty(kept) ? kept : proof;
  if (proof.offset < kept.since) return kept;
  const since = Math.min(kept.since, proof.since);
  if (proof.offset > kept.offset) return { ...proof, since };
  return since < kept.since ? { ...kept, since } : kept;
}

/** Adds a proof to those of users. */
export function addProof(proofs: Map<string, Coverage>, user: string, proof: Coverage): void {
  proofs.set(user, extend(proofs.get(user), proof));
}

function isEmpty({ since, offset }: Coverage): boolean {
  return offset === since;
}
