import { describe, expect, it } from "vitest";
import type { BankEvent } from "../../checker/bank/bank-event.ts";
import { complaintsOf } from "../complaints.ts";
import { type Plan, planOf } from "../plan.ts";
import { run } from "../run.ts";
import { World } from "../world.ts";
import { bankKinds, isBank } from "./bank-kinds.ts";

describe.each(bankKinds)("a bank in %s", (channel) => {
  it("[PC1] [PC4] [PC7] counts each transfer and each interest once, through a crash and a late answer", () => {
    const world = new World({ channels: [channel], gateways: 1 });
    const client = world.client();
    client.subscribe(channel);
    client.connect();
    world.pass(100);
    client.bank.transfer(channel, { from: "a1", to: "a2", amount: 7, keyed: true, repeats: 2 });
    world.pass(5);
    world.channel(channel).crash();
    world.teller.promise(channel, { account: "a3", afterMs: 2_000, keyed: true });
    world.pass(500);
    world.channel(channel).evict();
    world.pass(30_000);
    world.teller.read(channel);
    world.pass(100);
    expect(statementOf(world)).toEqual(["a1 93 c1-1:-7", "a2 107 c1-1:7", "a3 101 teller-1:1"]);
    expect(complaintsOf(world)).toEqual([]);
    world.end();
  });

  it("[PC1] [PC2] changes nothing if the money isn't there, or the code throws", () => {
    const world = new World({ channels: [channel], gateways: 1 });
    world.teller.transfer(channel, { from: "a1", to: "a2", amount: 101, keyed: true });
    world.teller.fail(channel, "a1");
    world.pass(1_000);
    world.teller.read(channel);
    world.pass(100);
    expect(statementOf(world)).toEqual([]);
    expect(world.eventLog.events).toContainEqual(
      expect.objectContaining({ f: "transfer", type: "fail", id: "teller-1" }),
    );
    expect(complaintsOf(world)).toEqual([]);
    world.end();
  });
});

describe("the plans of banks", () => {
  it("[PC1] [PC4] [PC6] [PC7] show nothing wrong in the first 30 seeds that have one", () => {
    const complaints: string[] = [];
    let plans = 0;
    for (let seed = 1; plans < 30; seed++) {
      const plan = planOf(seed);
      if (!plan.channels.some(isBank)) continue;
      plans++;
      complaints.push(...run(plan).complaints.map((what) => `seed ${seed}: ${what}`));
    }
    expect(complaints).toEqual([]);
  });
});

/** Faults that the simulator found in banks, each as the smallest plan that showed it. */
const found: readonly { readonly name: string; readonly plan: Plan }[] = [
  {
    name: "[PC6] a client that is answered again after a crash has got what the first call published",
    plan: {
      seed: 1398,
      faultShare: 0,
      channels: ["bank:b", "vault:v"],
      gateways: 1,
      clients: [{ reconnectsEarly: true }],
      steps: [
        { do: "connect", client: 0, ms: 0 },
        { do: "subscribe", client: 0, channel: "vault:v", ms: 1_000 },
        { do: "crash at commit", object: "vault:v", ms: 0 },
        {
          do: "transfer own",
          client: 0,
          channel: "vault:v",
          from: "a4",
          to: "a2",
          amount: 5,
          keyed: true,
          repeats: 1,
          ms: 50,
        },
      ],
      outcomes: {},
    },
  },
];

describe("a fault that the simulator found in banks", () => {
  it.each(found)("$name", ({ plan }) => {
    expect(run(plan).complaints).toEqual([]);
  });
});

/** The accounts of the last statement. */
function statementOf(world: World): readonly string[] | undefined {
  return world.eventLog.events.findLast(isStatement)?.accounts;
}

function isStatement(event: {
  readonly f: string;
}): event is Extract<BankEvent, { readonly f: "statement" }> {
  return event.f === "statement";
}
