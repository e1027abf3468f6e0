import { expect, it } from "vitest";
import { collectorOf, CarriedGauges } from "../../../../src/features/metrics/collectors.ts";
import { metricsLimits } from "../../../../src/features/metrics/limits.ts";

const gauges = (value: number) => [{ series: "centrifugo_node_num_channels", value }];

it("[J8] the gauges that are carried go to the object that collects them, the last ones of each", () => {
  const carried = new CarriedGauges();
  const nodes = Array.from({ length: 20 }, (_, number) => `channel:chat:${number}`);
  for (const node of nodes) carried.replace(node, gauges(0));
  for (const node of nodes) carried.replace(node, gauges(1));
  const taken = [...carried.drain()];
  for (const [collector, ofCollector] of taken)
    for (const { node, gauges: told } of ofCollector)
      expect([collectorOf(node), told]).toEqual([collector, gauges(1)]);
  expect(taken.flatMap(([, all]) => all)).toHaveLength(nodes.length);
  expect([...carried.drain()]).toEqual([]);
});

it("[J7] [B1] the gauges of so many objects are carried, and no call asks for more", () => {
  const carried = new CarriedGauges();
  for (let number = 0; number < metricsLimits.metricsCarriedMax - 1; number++)
    carried.replace(`channel:${number}`, gauges(1));
  expect(carried.hasRoom).toBe(true);
  carried.replace("channel:last", gauges(1));
  expect(carried.hasRoom).toBe(false);
  carried.drain();
  expect(carried.hasRoom).toBe(true);
});
