import { afterEach, expect } from "vitest";
import { complaintsOf } from "./complaints.ts";
import { World, type WorldSetup } from "./world.ts";

/** Makes worlds for the tests of a file. When a test is over, its worlds settle, and nothing may be wrong. */
export function quietWorlds(): (setup: WorldSetup) => World {
  const made: World[] = [];
  afterEach(() => {
    for (const world of made.splice(0)) expect(complaintsOf(world)).toEqual([]);
  });
  return (setup) => {
    const world = new World(setup);
    made.push(world);
    return world;
  };
}
