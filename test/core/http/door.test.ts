import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { limits } from "../../../src/limits.ts";
import { Door, type Visit } from "../../../workers/http/door.ts";

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

/** Upgrades that come to a door, and what became of them, in order. */
class Upgrades {
  readonly door = new Door();
  readonly visits: Visit[] = [];
  readonly log: string[] = [];

  /** @param isCancelled whether the client goes, so that the request runs no further */
  come(name: string, isCancelled = false): void {
    void this.#enter(name, isCancelled);
  }

  async #enter(name: string, isCancelled: boolean): Promise<void> {
    const visit = await this.door.enter();
    if (isCancelled) return;
    this.log.push(visit === undefined ? `${name} is refused` : name);
    if (visit !== undefined) this.visits.push(visit);
  }

  /** So many have come and are inside. */
  static async inside(count: number): Promise<Upgrades> {
    const upgrades = new Upgrades();
    for (let index = 0; index < count; index++) upgrades.come(`${index}`);
    await vi.advanceTimersByTimeAsync(0);
    if (upgrades.log.length !== count) throw new Error("not all came in");
    upgrades.log.length = 0;
    return upgrades;
  }

  async leave(): Promise<void> {
    const visit = this.visits.shift();
    if (visit !== undefined) this.door.leave(visit);
    await vi.advanceTimersByTimeAsync(0);
  }
}

describe("the door of the edge", () => {
  it("[F14] lets so many in at a time, and the others in their order", async () => {
    const upgrades = await Upgrades.inside(limits.upgradesAtOnce);
    for (const name of ["a", "b", "c"]) upgrades.come(name);
    await vi.advanceTimersByTimeAsync(0);
    expect(upgrades.log).toEqual([]);
    await upgrades.leave();
    expect(upgrades.log).toEqual(["a"]);
    await upgrades.leave();
    await upgrades.leave();
    expect(upgrades.log).toEqual(["a", "b", "c"]);
  });

  it("[F14] counts who leaves twice once", async () => {
    const upgrades = await Upgrades.inside(limits.upgradesAtOnce);
    for (const name of ["a", "b"]) upgrades.come(name);
    const [visit] = upgrades.visits;
    if (visit === undefined) throw new Error("nobody is inside");
    await upgrades.leave();
    upgrades.door.leave(visit);
    await vi.advanceTimersByTimeAsync(0);
    expect(upgrades.log).toEqual(["a"]);
  });

  it("[F14] refuses who has waited for too long", async () => {
    const upgrades = await Upgrades.inside(limits.upgradesAtOnce);
    upgrades.come("early");
    await vi.advanceTimersByTimeAsync(limits.arrivalWaitMs - 1);
    expect(upgrades.log).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    expect(upgrades.log).toEqual(["early is refused"]);
  });

  it("[F14] [B1] refuses at once when too many wait", async () => {
    const upgrades = await Upgrades.inside(limits.upgradesAtOnce);
    for (let index = 0; index < limits.upgradesWaitingMax; index++) upgrades.come("waits");
    upgrades.come("one more");
    await vi.advanceTimersByTimeAsync(0);
    expect(upgrades.log).toEqual(["one more is refused"]);
  });

  it("[F14] takes the place of a request that was cancelled for free after a while", async () => {
    const upgrades = await Upgrades.inside(limits.upgradesAtOnce - 1);
    upgrades.come("cancelled", true);
    upgrades.come("waits");
    await vi.advanceTimersByTimeAsync(limits.upgradeVisitMs);
    upgrades.come("comes later");
    await vi.advanceTimersByTimeAsync(0);
    expect(upgrades.log.toSorted()).toEqual(["comes later", "waits"]);
  });
});
