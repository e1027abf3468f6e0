import { describe, expect, it } from "vitest";
import { systemOrder } from "./results/shown-system.ts";
import { runScenarios } from "./run-scenarios.ts";
import type { Bench, Scenario } from "./scenarios/scenario.ts";
import type { System } from "./systems/system.ts";
import type { SystemName } from "./systems/wire.ts";
import { Workbench } from "./workbench.ts";
import { finding } from "./results/finding.ts";

/** Systems that record their stops; each starts when the gate opens. */
function workbenchWith(stopped: string[], gate: Promise<void> = Promise.resolve()): Workbench {
  const system = (name: SystemName): System => ({
    name,
    start: async () => {
      await gate;
      return {
        port: 1,
        processId: 1,
        sleep: () => Promise.resolve(),
        counts: () => Promise.reject(new Error("not asked for")),
        stop: async () => void stopped.push(name),
      };
    },
  });
  const options = { quick: true, rounds: 1, systems: systemOrder };
  return new Workbench(options, { systemOf: system, startLoad: noLoad }, () => undefined);
}

function noLoad(): Promise<never> {
  return Promise.reject(new Error("no load here"));
}

const scenario = (name: string, run: (bench: Bench) => Promise<void>): Scenario => ({
  name,
  question: "?",
  run: async (bench) => {
    await run(bench);
    return [finding("ws", [1])];
  },
});

describe("systems and load generators of a scenario", () => {
  it("are stopped once, whether the scenario stops them, leaves them or fails", async () => {
    const stopped: string[] = [];
    const results = await runScenarios(
      [
        scenario("tidy", async (bench) => {
          const running = await bench.start("ws", {});
          await Promise.all([running.stop(), running.stop()]);
        }),
        scenario("broken", async (bench) => {
          await bench.start("limit", {});
          throw new Error("it broke");
        }),
        scenario("forgetful", async (bench) => void (await bench.start("channel", {}))),
      ],
      workbenchWith(stopped),
    );
    expect(stopped).toEqual(["ws", "limit", "channel"]);
    expect(results.map(({ problem }) => problem)).toEqual([undefined, "it broke", undefined]);
    expect(results.map(({ findings }) => findings.length)).toEqual([1, 0, 1]);
  });

  it("are stopped while they start, and none starts afterwards", async () => {
    const stopped: string[] = [];
    const gate = Promise.withResolvers<void>();
    const workbench = workbenchWith(stopped, gate.promise);
    const starting = workbench.start("gateway", {});
    const closing = workbench.close();
    gate.resolve();
    await Promise.all([starting, closing]);
    expect(stopped).toEqual(["gateway"]);
    await expect(workbench.start("ws", {})).rejects.toThrow("ending");
  });

  it("are not started for later scenarios after an interruption", async () => {
    const workbench = workbenchWith([]);
    const left: string[] = [];
    const interrupted = runScenarios(
      [
        scenario("first", () => workbench.close()),
        scenario("second", async () => void left.push("second")),
      ],
      workbench,
    );
    await expect(interrupted).rejects.toThrow("interrupted");
    expect(left).toEqual([]);
  });
});
