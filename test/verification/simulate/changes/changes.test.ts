import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { afterEach, describe, expect, it, vi } from "vitest";
import { packageRoot } from "../../../../cli/package-root.ts";
import { Relay } from "../../../../src/channel/relay.ts";
import { RecentPublications } from "../../../../src/channel/recent-publications.ts";
import { HistoryTable } from "../../../../src/channel/history-table.ts";
import { namedRandom } from "../named-random.ts";
import { complaintsOf } from "../complaints.ts";
import { faultModel } from "../fault-model.ts";
import { World } from "../world.ts";
import { changeKinds } from "./change-kinds.ts";

afterEach(() => {
  vi.restoreAllMocks();
});

/** Random edits, deletions and erasures among random faults; gives all complaints. */
function changesOf(seed: number): readonly string[] {
  const random = namedRandom(seed, "changes");
  const channel = random.pick(changeKinds);
  const world = new World({
    channels: [channel],
    gateways: 2,
    chooseOutcome: faultModel(seed, random.pick([0, 0.1, 0.3])),
    latency: (name) => {
      const own = namedRandom(seed, `latency ${name}`);
      return () => own.between(1, 40);
    },
  });
  const places = [world.gateway("g/1"), world.gateway("g/2"), world.channel(channel)];
  const clients = Array.from({ length: 4 }, (_, index) => {
    const place = places[index % places.length] ?? world.gateway("g/1");
    return world.client({ choosePlace: () => place });
  });
  for (const client of clients) {
    client.connect();
    client.subscribe(channel);
  }
  const { changing } = world;
  const users = ["", "u1", "u2"];
  const actions: readonly (() => void)[] = [
    () => changing.publish(channel, random.pick(users)),
    () => changing.publish(channel, random.pick(users)),
    () => changing.publish(channel, random.pick(users)),
    () => changing.edit(channel, random.between(0, 99)),
    () => changing.edit(channel, random.between(0, 99)),
    () => changing.remove(channel, random.between(0, 99)),
    () => changing.erase(channel, random.between(0, 99)),
    () => changing.eraseUser(channel, random.pick(["u1", "u2"])),
    () => changing.read(channel),
    () => random.pick(clients).breakLine(),
    () => void random.pick(places).evict(),
    () => random.pick(places).crash(),
  ];
  for (let step = 0; step < 60; step++) {
    random.pick(actions)();
    world.pass(random.pick([0, 5, 30, 200, 2_000]));
  }
  const complaints = complaintsOf(world);
  changing.read(channel);
  world.pass(1_000);
  world.end();
  return complaints;
}

const seeds = Array.from({ length: 40 }, (_, index) => index + 1);

describe("random edits, deletions and erasures among faults", () => {
  it("[ED2][ED3][ED11][ED14] come once and in order, and nobody who asks later is given what is gone", () => {
    expect(seeds.flatMap(changesOf)).toStrictEqual([]);
  });

  it("[ED11] are found where what was read before isn't forgotten", () => {
    vi.spyOn(RecentPublications.prototype, "clear").mockImplementation(() => undefined);
    expect(seeds.some((seed) => changesOf(seed).length > 0)).toBe(true);
  });

  it("[ED16] are found where an erasure is acknowledged before the gateways have answered", () => {
    vi.spyOn(Relay.prototype, "isTaken").mockReturnValue(true);
    expect(seeds.some((seed) => changesOf(seed).length > 0)).toBe(true);
  });

  it("[ED15] are found where an erased row is left as it is", () => {
    vi.spyOn(HistoryTable.prototype, "erase").mockImplementation(() => undefined);
    expect(seeds.some((seed) => changesOf(seed).length > 0)).toBe(true);
  });
});

it("[ED16] npm run simulate notices an erasure that is acknowledged too early, in a copy without the protection", () => {
  const program = join(packageRoot, "test/verification/simulate/simulate.ts");
  // The first seed that notices it.
  const options = ["--without", "erased-everywhere", "--first", "3983", "--seeds", "1"];
  const { stdout, status } = spawnSync(process.execPath, [program, ...options], {
    encoding: "utf8",
  });
  expect(stdout).toContain("of edit:e, which was erased before");
  expect(status).toBe(1);
});
