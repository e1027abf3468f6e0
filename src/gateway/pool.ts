import { limits } from "../limits.ts";

/**
 * What one isolate of the edge has learned about pools of objects, and which object of a pool it asks next for room (rule
 * G3). Nobody knows how long a pool is: this is found out by asking, remembered for as long as it is of use, and may be
 * forgotten at any time.
 *
 * The lowest object with room is preferred, so that a pool fills from below and its upper end drains. Once room is known,
 * two objects below it are asked first: the lowest that isn't known to be full, and one anywhere between the two, without
 * which isolates that see little traffic would never find the way down in a long pool.
 *
 * From there upwards stretches are asked that double in width, one object of each: 12 calls see the whole of a pool of
 * 1,000. Where no room is known in a stretch, the clock says which of its objects it is. Were it always the same one,
 * isolates that remember nothing would all ask the same dozen, and clients be refused once these are full.
 */
export class Pools {
  readonly #objectsMax: number;
  readonly #pools = new Map<string, PoolMemory>();

  /** @param objectsMax how long a pool may get */
  constructor(objectsMax: number = limits.poolObjectsMax) {
    this.#objectsMax = objectsMax;
  }

  /**
   * The objects to ask for one client, by their index in the pool, one after the other until one takes it: at most
   * `limits.poolAttemptsMax`, lowest first, none that is known to be full. None at all when all are.
   *
   * @param nowMs ms since 1970, whole
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

  /** An object had no room: it is left out until then. */
  full(pool: string, index: number, untilMs: number): void {
    const { fullUntilMs, rooms } = this.#remember(pool);
    rooms.delete(index);
    fullUntilMs.set(index, untilMs);
  }

  /** An object took a client, and so may have room for another one. */
  took(pool: string, index: number): void {
    // That the first one has room is assumed anyway; most channels never need a second one.
    if (index === 0 && !this.#pools.has(pool)) return;
    const { fullUntilMs, rooms } = this.#remember(pool);
    fullUntilMs.delete(index);
    rooms.add(index);
  }

  #remember(pool: string): PoolMemory {
    const memory = this.#pools.get(pool) ?? { fullUntilMs: new Map(), rooms: new Set() };
    // A map keeps the order of insertion, so its first entry is the one of which nothing was learned for longest.
    this.#pools.delete(pool);
    this.#pools.set(pool, memory);
    const [oldest] = this.#pools.keys();
    if (this.#pools.size > limits.poolsRememberedMax && oldest !== undefined) {
      this.#pools.delete(oldest);
    }
    return memory;
  }
}

/** Of one pool; no index is in both. Neither grows beyond the number of the pool's objects. */
interface PoolMemory {
  /** Objects without room, and when they are worth asking again. */
  readonly fullUntilMs: Map<number, number>;
  /** Objects that took a client when they were last asked, however long ago. */
  readonly rooms: Set<number>;
}

const nothingKnown: PoolMemory = { fullUntilMs: new Map(), rooms: new Set() };

/** The first four objects are asked one by one: most pools are no longer, and are then filled without a gap. */
function stretchWidth(stretch: number): number {
  return stretch < 4 ? 1 : 2 ** (stretch - 2);
}

/** The lowest index in `from … end - 1` where there was room. */
function lowestRoom({ rooms }: PoolMemory, from: number, end: number): number | undefined {
  let lowest: number | undefined;
  for (const index of rooms) {
    if (index >= from && index < (lowest ?? end)) lowest = index;
  }
  return lowest;
}

/**
 * An index in `from … end - 1` that isn't known to be full; undefined when all are, or when there is none.
 *
 * @param chance a whole number that says where to begin; from the end it goes on at the beginning
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
    if ((fullUntilMs.get(index) ?? 0) <= nowMs) return index;
  }
  return undefined;
}
