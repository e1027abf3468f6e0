import { cursorLimits } from "./limits.ts";

/** Publications of a channel. */
export interface Stretch {
  /** Nothing is claimed of what came up to here. */
  readonly since: number;
  /** Of the last one. */
  readonly offset: number;
}

/**
 * The publications of a channel that a user is known to have received: everything after `since` and up to `offset` that passes the
 * filters of the user's subscription has arrived at a client's program of the user (rule CU10).
 */
export interface Coverage extends Stretch {
  readonly epoch: string;
  /** How the offset is known. */
  readonly by: ProofKind;
  /** When that was known at the latest, ms since 1970. */
  readonly atMs: number;
}

/**
 * ping: the client has answered a ping that was sent after these publications. recovery: a client has named the offset
 * from which it continues. command: a client has marked that its user has read up to here.
 */
export type ProofKind = "ping" | "recovery" | "command";

/**
 * Adds a proof of the same epoch. Of two intervals with a hole between them the later one stays, because nothing is
 * claimed of a hole. An empty interval claims nothing, and never replaces one that isn't empty.
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

/**
 * Adds a proof to the proofs of users. Each user has one proof for each stretch. If a user has more than
 * `cursorLimits.stretchesMax`, the one that was added first is left out.
 */
export function addProof(proofs: UserProofs, user: string, proof: Coverage): void {
  const kept = proofs.get(user) ?? [];
  const apart = kept.filter((one) => hasHole(one, proof));
  const joined = kept.filter((one) => !apart.includes(one)).reduce(extend, proof);
  proofs.set(user, [...apart, joined].slice(-cursorLimits.stretchesMax));
}

/** The publications that users have provably got, by user: stretches with holes between them. */
export type UserProofs = Map<string, readonly Coverage[]>;
export type ReadonlyUserProofs = ReadonlyMap<string, readonly Coverage[]>;

/** The proofs of users, one after the other. */
export function listProofs(proofs: ReadonlyUserProofs): readonly UserProof[] {
  return [...proofs].flatMap(([user, all]) => all.map((proof) => ({ user, proof })));
}

/** A stretch that a user has provably got. */
export interface UserProof {
  readonly user: string;
  readonly proof: Coverage;
}

/** Whether there is a hole between two stretches. */
function hasHole(one: Stretch, other: Stretch): boolean {
  return other.since > one.offset || other.offset < one.since;
}

/** Of what is kept and a proof, the stretch that {@link extend} doesn't keep; undefined if it keeps both, or none is left. */
export function leftOut(kept: Coverage | undefined, proof: Coverage): Coverage | undefined {
  if (kept === undefined || !hasHole(kept, proof)) return undefined;
  const left = extend(kept, proof) === kept ? proof : kept;
  return isEmpty(left) ? undefined : left;
}

/**
 * Adds a stretch to others, which have holes between them and are in order. If there are more than `stretchesMax` then,
 * the two with the smallest hole between them become one (rule CU45).
 */
export function addStretch(
  kept: readonly Stretch[],
  added: Stretch,
  stretchesMax: number,
): readonly Stretch[] {
  const apart = kept.filter((one) => hasHole(one, added));
  const touching = [added, ...kept.filter((one) => !apart.includes(one))];
  const all = [...apart, hullOf(touching)].toSorted((one, other) => one.since - other.since);
  if (all.length <= stretchesMax) return all;
  const holes = all.slice(1).map(({ since }, index) => since - (all[index]?.offset ?? 0));
  const smallest = holes.indexOf(Math.min(...holes));
  return [
    ...all.slice(0, smallest),
    hullOf(all.slice(smallest, smallest + 2)),
    ...all.slice(smallest + 2),
  ];
}

function hullOf(stretches: readonly Stretch[]): Stretch {
  return {
    since: Math.min(...stretches.map(({ since }) => since)),
    offset: Math.max(...stretches.map(({ offset }) => offset)),
  };
}

function isEmpty({ since, offset }: Stretch): boolean {
  return offset === since;
}

/**
 * Asks the objects with connections of users what these users are known to have received of the channel (rule CU10).
 */
export interface CoverageCensus {
  /**
   * @param users "all": everybody who is connected
   * @param done  called once, later or at once
   * @param upTo  `unsure` names the users who may still prove that they have received everything up to this offset;
   *              absent: it names nobody
   */
  ask(
    users: ReadonlySet<string> | "all",
    done: (found: FoundCoverage) => void,
    upTo?: number,
  ): void;
}

/** The result of a census. It is written into the users' rows if it proves more than they do. */
export interface FoundCoverage {
  /** The proofs of the gateways that answered. A row may still have one of a user who isn't here. */
  readonly proofs: ReadonlyUserProofs;
  /** Users with a connection whose answer to its next ping may prove more than is known now. */
  readonly unsure: ReadonlySet<string>;
  /** Whether all have answered in time. */
  readonly isComplete: boolean;
}
