import { describe, expect, it } from "vitest";
import { planOf } from "./plan.ts";
import { run } from "./run.ts";

const blocks = Array.from({ length: 10 }, (_, block) => {
  const first = block * 100 + 1;
  return { name: `from seed ${first} on`, seeds: [...Array(100).keys()].map((at) => first + at) };
});

/** Seeds that notice a weakened copy of the core (`--without NAME`) which the first thousand don't notice. */
const furtherSeeds = {
  name: "that notice order-of-orders and cancelled-subscribe",
  seeds: [1080, 1824, 1925],
};

/**
 * Everything at once: clients that connect, leave, publish and recover; calls that are lost, late, repeated and
 * reordered; objects that hibernate, crash, and whose writes fail. The clients check the rules as they receive, a model
 * checks each channel's answers, and the checker checks the whole history.
 */
describe.each([...blocks, furtherSeeds])("worlds with faults, $name", ({ seeds }) => {
  it("[L1] lose nothing, repeat nothing, forget no subscriber and keep no client that left", () => {
    const found = seeds.flatMap((seed) =>
      run(planOf(seed)).complaints.map((complaint) => `seed ${seed}: ${complaint}`),
    );
    expect(found).toEqual([]);
  });
});
