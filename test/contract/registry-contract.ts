import { expect, it } from "vitest";
import type { Channel } from "../../src/channel/channel.ts";
import { storedAtMs, storedTables } from "../../src/channel/stored-tables.ts";
import { GatewayRegistry } from "../../src/channel/gateway-registry.ts";
import { limits } from "../../src/limits.ts";
import { RecordingSubscriber } from "../core/hub/recording-subscriber.ts";
import type { OnFreshStorage } from "./on-fresh-storage.ts";
import {
  dueAfterEvent,
  openChannel,
  positionOf,
  positioned,
  publishNumbers,
  withHistory,
} from "./open-channel.ts";
import { tableNames } from "./stored-tables.ts";

/** Which gateways follow is durable, and they hold the stream: rules L5 and H6. */
export function registryContract(onFreshStorage: OnFreshStorage): void {
  rowsContract(onFreshStorage);
  heldStreamContract(onFreshStorage);
}

const checks = { intervalMs: 1_000, history: { unused: false } };

function rowsContract(onFreshStorage: OnFreshStorage): void {
  it("[L5] knows after hibernation which gateways follow, and when to ask them", async () => {
    await onFreshStorage((sql) => {
      const registry = new GatewayRegistry(sql, checks);
      expect([tableNames(sql), registry.size, registry.newestMs]).toEqual([[], 0, -Infinity]);
      registry.register("eu/1", 500);
      registry.register("channel/a b'\"/2", 700);
      registry.register("eu/1", 900);
      registry.register("us/1", 800);
      registry.remove("us/1");
      registry.remove("nobody");
      for (const opened of [registry, new GatewayRegistry(sql, checks)]) {
        expect(opened.gateways.toSorted()).toEqual(["channel/a b'\"/2", "eu/1"]);
        expect([opened.size, opened.newestMs]).toEqual([2, 700]);
        expect(opened.checkDueAtMs("eu/1", 0)).toBe(1_500);
        expect(opened.checkDueAtMs("nobody", 0)).toBe(Infinity);
      }
      registry.found("eu/1", 1_500);
      registry.retryLater("channel/a b'\"/2", 1_234);
      for (const opened of [registry, new GatewayRegistry(sql, checks)]) {
        expect(opened.checkDueAtMs("eu/1", 2_000)).toBe(2_500);
        expect(opened.checkDueAtMs("channel/a b'\"/2", 1_000)).toBe(1_234);
        expect(opened.isUnknownSince("eu/1", 1_500)).toBe(false);
        expect(opened.isUnknownSince("eu/1", 1_501)).toBe(true);
        expect(opened.isUnknownSince("channel/a b'\"/2", 1_501)).toBe(false);
        expect(opened.isUnknownSince("nobody", 1_501)).toBe(false);
      }
      registry.found("channel/a b'\"/2", 1_600);
      expect(new GatewayRegistry(sql, checks).checkDueAtMs("channel/a b'\"/2", 2_000)).toBe(2_600);
    });
  });

  it("[L5] begins again after the last one was forgotten, whether the table stayed or not", async () => {
    await onFreshStorage((sql) => {
      const registry = new GatewayRegistry(sql, checks);
      for (const between of [() => undefined, () => sql.run("DROP TABLE gateway")]) {
        registry.register("eu/1", 0);
        expect(new GatewayRegistry(sql, checks).gateways).toEqual(["eu/1"]);
        registry.remove("eu/1");
        expect(new GatewayRegistry(sql, checks).size).toBe(0);
        between();
      }
      registry.register("eu/2", 0);
      expect(new GatewayRegistry(sql, checks).gateways).toEqual(["eu/2"]);
    });
  });

  it("[L8] asks the gateways of a channel without publications after three hours, and then each week", async () => {
    await onFreshStorage((sql) => {
      const channel = openChannel(sql, { options: {} });
      channel.relay.follow("eu/1", 0);
      const { unusedStreamMs, unusedCheckMs } = limits;
      expect(channel.relay.dueAtMs(0)).toBe(unusedStreamMs);
      expect(answerAll(channel, "taken", unusedStreamMs - 1)).toBe(0);
      expect(answerAll(channel, "taken", unusedStreamMs)).toBe(1);
      for (const opened of [channel, openChannel(sql, { options: {} })]) {
        expect(opened.relay.dueAtMs(unusedStreamMs)).toBe(unusedStreamMs + unusedCheckMs);
      }
      expect(answerAll(channel, "left", unusedStreamMs + unusedCheckMs)).toBe(1);
      expect(channel.storesNothing).toBe(true);
    });
  });

  it("[H13] is something stored, while there is a gateway", async () => {
    await onFreshStorage((sql) => {
      const channel = openChannel(sql, { options: {} });
      channel.relay.follow("eu/1", 4_000);
      for (const opened of [channel, openChannel(sql, { options: {} })]) {
        expect([opened.storesNothing, opened.relay.gateways]).toEqual([false, ["eu/1"]]);
      }
      expect([[...storedTables(sql)], storedAtMs(sql)]).toEqual([["gateway"], 4_000]);
      publishNumbers(channel, 1, 1);
      answerAll(channel, "left", 0);
      for (const opened of [channel, openChannel(sql, { options: {} })]) {
        expect(opened.storesNothing).toBe(true);
      }
    });
  });
}

const metaTtlMs = 3_600_000;
const options = { ...withHistory, historyMetaTtlMs: metaTtlMs };

function heldStreamContract(onFreshStorage: OnFreshStorage): void {
  it("[H6] keeps an ended stream for gateways that still want it", async () => {
    await onFreshStorage((sql) => {
      const channel = openChannel(sql, { options });
      channel.relay.follow("eu/1", 0);
      publishNumbers(channel, 1, 2);
      answerAll(channel, "taken", 0);
      const position = positionOf(channel);
      expect(channel.cleanupDueAtMs(0)).toBe(metaTtlMs);
      channel.deleteExpired(metaTtlMs);
      // It is being asked.
      expect(channel.cleanupDueAtMs(metaTtlMs)).toBeUndefined();
      expect(answerAll(channel, "taken", metaTtlMs)).toBe(1);
      channel.deleteExpired(metaTtlMs + 1);
      expect(answerAll(channel, "taken", metaTtlMs + 1)).toBe(0);
      for (const opened of [channel, openChannel(sql, { options, nowMs: metaTtlMs + 1 })]) {
        expect(opened.cleanupDueAtMs(metaTtlMs + 1)).toBeUndefined();
        expect(positionOf(opened, metaTtlMs + 1)).toEqual(position);
      }
    });
  });

  it("[H6] forgets an ended stream once the last gateway says that it doesn't", async () => {
    await onFreshStorage((sql) => {
      const channel = openChannel(sql, { options });
      for (const gateway of ["eu/1", "eu/2"]) channel.relay.follow(gateway, 0);
      publishNumbers(channel, 1, 2, 500);
      answerAll(channel, "taken", 500);
      const endMs = 500 + metaTtlMs;
      channel.deleteExpired(endMs);
      expect(answerAll(channel, "left", endMs)).toBe(2);
      expect(channel.cleanupDueAtMs(endMs)).toBe(endMs);
      channel.deleteExpired(endMs);
      expect(channel.storesNothing).toBe(true);
      expect(channel.cleanupDueAtMs(endMs)).toBeUndefined();
    });
  });

  it("[H6] asks the gateways of an ended stream when the last subscriber here has left", async () => {
    await onFreshStorage((sql) => {
      const channel = openChannel(sql, { options });
      const reader = new RecordingSubscriber("reader");
      channel.subscribe(reader, positioned, 0);
      channel.relay.follow("eu/1", 0);
      const endMs = metaTtlMs;
      channel.deleteExpired(endMs - 1);
      expect(channel.cleanupDueAtMs(endMs)).toBeUndefined();
      channel.unsubscribe(reader);
      expect(channel.cleanupDueAtMs(endMs)).toBe(endMs);
    });
  });

  it("[H12] keeps an unused stream for three hours after the last gateway has left it", async () => {
    await onFreshStorage((sql) => {
      const unused = { options: { ...withHistory, historyMetaTtlMs: 100 * limits.unusedStreamMs } };
      const channel = openChannel(sql, unused);
      channel.relay.follow("eu/1", 0);
      const position = positionOf(channel, 0);
      const { unusedStreamMs: keptMs } = limits;
      expect(dueAfterEvent(channel, 0)).toBe(keptMs);
      channel.deleteExpired(keptMs);
      expect(answerAll(channel, "taken", keptMs)).toBe(1);
      expect(dueAfterEvent(channel, keptMs)).toBeUndefined();
      const leftMs = channel.relay.dueAtMs(keptMs) ?? 0;
      expect(answerAll(channel, "left", leftMs)).toBe(1);
      expect(dueAfterEvent(channel, leftMs)).toBe(leftMs + keptMs);
      expect(positionOf(openChannel(sql, unused), leftMs + keptMs - 1)).toEqual(position);
      channel.deleteExpired(leftMs + keptMs);
      expect(channel.storesNothing).toBe(true);
    });
  });

  it("[L1] numbers an instance after the one before it, whatever the clock says", async () => {
    await onFreshStorage((sql) => {
      const first = openChannel(sql, { options, instance: 5_000 });
      publishNumbers(first, 1, 1, 5_000);
      const second = openChannel(sql, { options, instance: 4_000 });
      second.relay.follow("eu/1", 7_000);
      const third = openChannel(sql, { options, instance: 4_000 });
      const fourth = openChannel(sql, { options, instance: 9_000 });
      const instances = [first, second, third, fourth].map(({ relay }) => relay.instance);
      expect(instances).toEqual([5_000, 5_001, 7_001, 9_000]);
    });
  });
}

/** Answers all due calls, and gives their number. */
function answerAll(channel: Channel, outcome: "taken" | "left", nowMs: number): number {
  const deliveries = channel.relay.deliveries(channel.top, nowMs);
  for (const delivery of deliveries) channel.relay.answered(delivery, { outcome }, nowMs);
  return deliveries.length;
}
