import { limits } from "../limits.ts";
import { dueMoment } from "../moment.ts";

/**
 * The knowledge of one isolate of the edge about pools of objects, and the order in which the isolate tries the objects
 * of a pool for a connection (rule G3). The length of a pool isn't recorded anywhere. An isolate finds it out by
 * trying, and may forget it at any time.
 *
 * The lowest object with room is preferred, so that a pool fills from below and its upper end drains. Once an object
 * with room is known, two objects below it are tried first. One is the lowest that isn't known to be full. The other is
 * any object between these two: without it, isolates with little traffic would never come down in a long pool.
 *
 * From there upwards the pool is divided into stretches that double in width. One object of each stretch is tried, so
 * that 12 calls cover a pool of 1,000. In a stretch without a known object with room, the clock chooses the object.
 * With a fixed choice, all isolates that remember nothing would try the same dozen objects, and would refuse clients
 * once these are full.
 */
export class Pools {
  readonly #objectsMax: number;
  readonly #pools = new Map<string, PoolMemory>();

  /** @param objectsMax how many objects a pool may have */
  constructor(objectsMax: number = limits.poolObjectsMax) {
    this.#objectsMax = objectsMax;
  }

  /**
   * The objects to try for one client, by their index in the pool, one after the other until one of them takes it: at
   * most `limits.poolAttemptsMax`, lowest first, none that is known to be full. Empty if all are known to be full.
   *
   * @param nowMs ms since 1970, a whole number
   */
  candidates(pool: string, nowMs: number): readonly number[] {
    const memory = this.#pools.get(pool) ?? nothingKnown;
    const lowest = notFull(memory, 0, this.#objectsMax, nowMs, 0);
    if (lowest === undefined) return [];
    const candidates: (number | undefined)[] = [];
    let from = lowest;
    const room = lowestRoom(memory, lowest, this.#objectsMax);
    if (room !== undefined && room > lowest) {
      candidates.push(lowest, notFull(memory, lowest + 1, room, nowMs, nowMs));
      from = room;
    }
    for (let stretch = 0; from < this.#objectsMax; stretch++) {
      const end = Math.min(from + stretchWidth(stretch), this.#objectsMax);
      candidates.push(lowestRoom(memory, from, end) ?? notFull(memory, from, end, nowMs, nowMs));
      from = end;
    }
    return candidates.filter((index) => index !== undefined).slice(0, limits.poolAttemptsMax);
  }

  /** An object had no room: it isn't tried until `untilMs`. */
  full(pool: string, index: number, untilMs: number): void {
    const { fullUntilMs, rooms } = this.#remember(pool);
    rooms.delete(index);
    fullUntilMs.set(index, untilMs);
  }

  /** An object took a client, and so may have room for another one. */
  took(pool: string, index: number): void {
    // The first object is assumed to have room anyway, and most channels never need a second one.
    if (index === 0 && !this.#pools.has(pool)) return;
    const { fullUntilMs, rooms } = this.#remember(pool);
    fullUntilMs.delete(index);
    rooms.add(index);
  }

  #remember(pool: string): PoolMemory {
    const memory = this.#pools.get(pool) ?? { fullUntilMs: new Map(), rooms: new Set() };
    // A map keeps the order of insertion, so its first entry is the pool of which nothing was learned for longest.
    this.#pools.delete(pool);
    this.#pools.set(pool, memory);
    const [oldest] = this.#pools.keys();
    if (this.#pools.size > limits.poolsRememberedMax && oldest !== undefined) {
      this.#pools.delete(oldest);
    }
    return memory;
  }
}

/**
 * The state of one pool as far as it is known. No index is in both collections, and neither grows beyond the number of the pool's
 * objects.
 */
interface PoolMemory {
  /** Objects without room, and when they are worth another try, ms since 1970. */
  readonly fullUntilMs: Map<number, number>;
  /** Objects that took a client when they were last tried, however long ago. */
  readonly rooms: Set<number>;
}

const nothingKnown: PoolMemory = { fullUntilMs: new Map(), rooms: new Set() };

/** The first four objects are tried one by one: most pools have no more, and are then filled without a gap. */
function stretchWidth(stretch: number): number {
  return stretch < 4 ? 1 : 2 ** (stretch - 2);
}

/** The lowest index in `from … end - 1` whose object is known to have room. */
function lowestRoom({ rooms }: PoolMemory, from: number, end: number): number | undefined {
  let lowest: number | undefined;
  for (const index of rooms) {
    if (index >= from && index < (lowest ?? end)) lowest = index;
  }
  return lowest;
}

/**
 * An index in `from … end - 1` that isn't known to be full; undefined if all of them are, or if the range is empty.
 *
 * @param chance a whole number that chooses where the search begins; from the end it goes on at the beginning
 */
function notFull(
  { fullUntilMs }: PoolMemory,
  from: number,
  end: number,
  nowMs: number,
  chance: number,
): number | undefined {
  const width = end - from;
  for (let step = 0; step < width; step++) {
    const index = from + ((chance + step) % width);
    if (dueMoment(fullUntilMs.get(index) ?? 0, limits.poolFullMs, nowMs) <= nowMs) return index;
  }
  return undefined;
}
