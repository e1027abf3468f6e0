import type { PublicationRecord } from "../publication-record.ts";

/** How many subscribers received one publication directly after another one. */
export interface ReceivedEdge {
  readonly to: PublicationRecord;
  /** The first process that received them in this order. */
  readonly process: string;
  receivers: number;
}

/** An edge that contradicts the order in which other subscribers received. */
export interface Contradiction {
  readonly from: PublicationRecord;
  readonly edge: ReceivedEdge;
}

/**
 * The order in which the subscribers of a channel without offsets received its publications. Each subscriber's
 * deliveries are a chain; the subscribers agree if and only if all chains together have no cycle. While they agree, the
 * order costs one edge for each publication.
 */
export class Order {
  /** All delivered publications, in the order of their ranks. */
  readonly #ranked: PublicationRecord[] = [];
  #goesBack = false;

  /** Gives a publication its rank when it is first delivered. */
  rank(publication: PublicationRecord): number {
    if (publication.rank < 0) {
      publication.rank = this.#ranked.length;
      this.#ranked.push(publication);
    }
    return publication.rank;
  }

  /** A subscriber received one publication directly after the other. */
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

  /** For each cycle, the edge that the fewest subscribers have; of several such edges, the last one that appeared. */
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

/** Of two edges with equally many subscribers, the one against the ranks appeared later. */
function isTieLost(edge: ReceivedEdge, { from, edge: found }: Contradiction): boolean {
  return edge.receivers === found.receivers && found.to.rank > from.rank;
}

function edgesOf({ next, otherNext }: PublicationRecord): readonly ReceivedEdge[] {
  if (next === undefined) return [];
  return otherNext === undefined ? [next] : [next, ...otherNext];
}

/**
 * Tarjan's strongly connected components, without recursion because a history may be long.
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
