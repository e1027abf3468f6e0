import type { PublicationRecord } from "./publication-record.ts";

/** One publication was heard right after another one, by so many subscribers. */
export interface ReceivedEdge {
  readonly to: PublicationRecord;
  /** Who heard it so first. */
  readonly process: string;
  receivers: number;
}

/** An edge against which others heard. */
export interface Contradiction {
  readonly from: PublicationRecord;
  readonly edge: ReceivedEdge;
}

/**
 * In which order the subscribers of a channel without offsets heard what they heard. What each heard is a chain; they agree if
 * and only if all chains together have no cycle. While they agree, this costs one edge for each publication.
 */
export class Order {
  /** Everything that was heard by anybody, in the order of their ranks. */
  readonly #ranked: PublicationRecord[] = [];
  #goesBack = false;

  /** A publication is heard; the first time it gets its rank. */
  rank(publication: PublicationRecord): number {
    if (publication.rank < 0) {
      publication.rank = this.#ranked.length;
      this.#ranked.push(publication);
    }
    return publication.rank;
  }

  /** A subscriber heard one right after the other. */
  link(from: PublicationRecord, to: PublicationRecord, process: string): void {
    const { next } = from;
    if (next !== undefined && next.to === to) {
      next.receivers++;
      return;
    }
    // Without an edge against the ranks there can't be a cycle.
    if (to.rank < from.rank) this.#goesBack = true;
    if (next === undefined) {
      from.next = { to, process, receivers: 1 };
      return;
    }
    from.otherNext ??= [];
    const known = from.otherNext.find((edge) => edge.to === to);
    if (known === undefined) from.otherNext.push({ to, process, receivers: 1 });
    else known.receivers++;
  }

  /** Of everything that goes in a circle, the edge that the fewest heard; of several such ones the one that came last. */
  contradictions(): Contradiction[] {
    if (!this.#goesBack) return [];
    const circleOf = circles(this.#ranked);
    const worst = new Map<number, Contradiction>();
    for (const from of this.#ranked) {
      const circle = circleOf[from.rank] ?? -1;
      for (const edge of edgesOf(from)) {
        if (circleOf[edge.to.rank] !== circle) continue;
        const found = worst.get(circle);
        if (
          found === undefined ||
          edge.receivers < found.edge.receivers ||
          isTieLost(edge, found)
        ) {
          worst.set(circle, { from, edge });
        }
      }
    }
    return [...worst.values()];
  }
}

/** Of two edges that equally many heard, the one against the ranks came later. */
function isTieLost(edge: ReceivedEdge, { from, edge: found }: Contradiction): boolean {
  return edge.receivers === found.receivers && found.to.rank > from.rank;
}

function edgesOf({ next, otherNext }: PublicationRecord): readonly ReceivedEdge[] {
  if (next === undefined) return [];
  return otherNext === undefined ? [next] : [next, ...otherNext];
}

/**
 * Tarjan's strongly connected components, without recursion, for a history may be long.
 *
 * @returns the component's number for each rank
 */
function circles(ranked: readonly PublicationRecord[]): Int32Array {
  const componentOf = new Int32Array(ranked.length).fill(-1);
  const indexOf = new Int32Array(ranked.length).fill(-1);
  const lowOf = new Int32Array(ranked.length);
  const waiting: number[] = [];
  let visited = 0;
  let components = 0;
  const low = (rank: number): number => lowOf[rank] ?? 0;
  const enter = (publication: PublicationRecord): Visit => {
    indexOf[publication.rank] = visited;
    lowOf[publication.rank] = visited++;
    waiting.push(publication.rank);
    return { rank: publication.rank, edges: edgesOf(publication), done: 0 };
  };
  for (const root of ranked) {
    if ((indexOf[root.rank] ?? 0) >= 0) continue;
    const path = [enter(root)];
    for (let step = path.at(-1); step !== undefined; step = path.at(-1)) {
      const { rank } = step;
      const edge = step.edges[step.done++];
      if (edge !== undefined) {
        const to = edge.to.rank;
        if ((indexOf[to] ?? 0) < 0) path.push(enter(edge.to));
        else if (componentOf[to] === -1) lowOf[rank] = Math.min(low(rank), indexOf[to] ?? 0);
        continue;
      }
      path.pop();
      const above = path.at(-1);
      if (above !== undefined) lowOf[above.rank] = Math.min(low(above.rank), low(rank));
      if (low(rank) !== indexOf[rank]) continue;
      let member = waiting.pop();
      while (member !== undefined && member !== rank) {
        componentOf[member] = components;
        member = waiting.pop();
      }
      componentOf[rank] = components++;
    }
  }
  return componentOf;
}

interface Visit {
  readonly rank: number;
  readonly edges: readonly ReceivedEdge[];
  done: number;
}
