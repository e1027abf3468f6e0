import { describe, expect, it } from "vitest";
import { limits } from "../../../../src/limits.ts";
import type { Relay } from "../../../../src/channel/relay.ts";
import { NodeSql } from "../../../../package/test/node-sql.ts";
import {
  addPublications,
  at,
  onlyDelivery,
  openRelay,
  publication,
  span,
} from "./relay-fixture.ts";

const taken = { outcome: "taken" } as const;
const left = { outcome: "left" } as const;
const busy = { outcome: "busy" } as const;

describe("the entries for gateways", () => {
  it("[L1] is numbered alike for all, and begins for each after it followed", () => {
    const relay = openRelay();
    addPublications(relay, 1, 2);
    expect(relay.deliveries(at(2), 0)).toEqual([]);
    expect(relay.follow("a", 0)).toEqual({ outcome: "following", instance: 1, sequence: 2 });
    addPublications(relay, 3, 3);
    expect(relay.follow("b", 0)).toEqual({ outcome: "following", instance: 1, sequence: 3 });
    addPublications(relay, 4, 4);
    const about = { v: 1, channel: "room", instance: 1, certain: true, top: at(4) };
    const [third, fourth] = [publication(3), publication(4)];
    expect(relay.deliveries(at(4), 0)).toEqual([
      { gateway: "a", batch: { ...about, first: 3, entries: [third, fourth] } },
      { gateway: "b", batch: { ...about, first: 4, entries: [fourth] } },
    ]);
  });

  it("[L2] is sent in one call at a time, and later entries share the next one", () => {
    const relay = following();
    addPublications(relay, 1, 1);
    const first = onlyDelivery(relay);
    addPublications(relay, 2, 4);
    expect(relay.deliveries(at(4), 0)).toEqual([]);
    relay.answered(first, taken, 0);
    const second = onlyDelivery(relay);
    expect([span(first), span(second)]).toEqual([
      [1, 1],
      [2, 4],
    ]);
    relay.answered(second, taken, 0);
    expect(relay.deliveries(at(4), 0)).toEqual([]);
  });

  it("[F7] can't be told at once while each gateway is being called", () => {
    const relay = openRelay();
    expect(relay.calling).toBe(true);
    for (const gateway of ["a", "b"]) relay.follow(gateway, 0);
    expect(relay.calling).toBe(false);
    addPublications(relay, 1, 1);
    const [toA, toB] = relay.deliveries(at(1), 0);
    expect(relay.calling).toBe(true);
    if (toB !== undefined) relay.answered(toB, taken, 0);
    expect(relay.calling).toBe(false);
    expect(toA?.gateway).toBe("a");
  });

  it("[V1] counts as failed when the answer is one of a newer release", () => {
    const relay = following();
    addPublications(relay, 1, 1);
    // An answer of another release isn't in our types.
    const newer: { outcome: "taken" } = JSON.parse('{"outcome":"newer"}');
    relay.answered(onlyDelivery(relay), newer, 0);
    expect(onlyDelivery(relay, 100).batch).toMatchObject({ first: 1, certain: false });
  });
});

describe("a batch", () => {
  it("[L2] holds at most 2,048 entries, and the top after the last of them", () => {
    const relay = following();
    addPublications(relay, 1, 3_000);
    const first = onlyDelivery(relay, 0, at(3_000));
    expect(span(first)).toEqual([1, limits.relayBatchEntriesMax]);
    expect(first.batch.top).toEqual(at(limits.relayBatchEntriesMax));
    relay.answered(first, taken, 0);
    const second = onlyDelivery(relay, 0, at(3_000));
    expect(span(second)).toEqual([2_049, 3_000]);
    expect(second.batch.top).toEqual(at(3_000));
  });

  it("[L2] holds at most a MiB, unless one entry alone is larger", () => {
    const relay = following();
    const half = limits.relayBatchBytesMax / 2 - 128;
    for (const [index, size] of [half, half, 1_048_576, 3].entries()) {
      relay.append(publication(index + 1, size), at(index + 1));
    }
    const spans = [];
    for (let calls = 0; calls < 3; calls++) {
      const delivery = onlyDelivery(relay);
      spans.push(span(delivery));
      relay.answered(delivery, taken, 0);
    }
    expect(spans).toEqual([
      [1, 2],
      [3, 3],
      [4, 4],
    ]);
  });

  it("[L1] has no position on a channel without history", () => {
    const relay = openRelay(new NodeSql(), { hasHistory: false });
    relay.follow("a", 0);
    for (let count = 0; count < 2_049; count++) relay.append(publication(0), undefined);
    const [first] = relay.deliveries(undefined, 0);
    expect(first?.batch).not.toHaveProperty("top");
    if (first !== undefined) relay.answered(first, taken, 0);
    expect(relay.deliveries(undefined, 0)[0]?.batch).not.toHaveProperty("top");
  });

  it("[L1] is certain unless an earlier call may have been carried out", () => {
    const relay = following();
    addPublications(relay, 1, 1);
    const certainty = (answer: Parameters<Relay["answered"]>[1], nowMs: number) => {
      const delivery = onlyDelivery(relay, nowMs);
      relay.answered(delivery, answer, nowMs);
      return delivery.batch.certain;
    };
    expect(certainty(busy, 0)).toBe(true);
    expect(certainty("failed", 1_000)).toBe(true);
    expect(certainty(busy, 2_000)).toBe(false);
    addPublications(relay, 2, 2);
    expect(certainty(taken, 3_000)).toBe(false);
    addPublications(relay, 3, 3);
    expect(certainty(taken, 3_000)).toBe(true);
  });
});

describe("a gateway that falls behind", () => {
  it.each([
    ["entries", limits.relayLogEntriesMax, 3],
    ["bytes", 8, limits.relayLogBytesMax / 8 - 128],
  ])("[L2] skips entries beyond the log's limit of %s, and is told", (_bound, count, size) => {
    const relay = following();
    relay.follow("quick", 0);
    for (let offset = 1; offset <= count; offset++)
      relay.append(publication(offset, size), at(offset));
    expect(firsts(relay)).toEqual([1, 1]);
    expect(skipped(relay, count + 1, size)).toEqual([
      { first: 2, certain: false },
      { first: 2, certain: false },
    ]);
  });

  it.each([
    ["entries", limits.relayAheadEntriesMax, 3],
    ["bytes", 8, limits.relayAheadBytesMax / 8 - 128],
  ])("[F9] makes publishers wait for its answer beyond its limit of %s", (_bound, count, size) => {
    const relay = following();
    relay.append(publication(1, size), at(1));
    const delivery = onlyDelivery(relay);
    for (let offset = 2; offset <= count; offset++)
      relay.append(publication(offset, size), at(offset));
    expect(relay.full(0)).toBe(false);
    relay.append(publication(count + 1, size), at(count + 1));
    expect(relay.full(0)).toBe(true);
    relay.answered(delivery, taken, 0);
    expect(relay.full(0)).toBe(false);
  });

  it("[F9] makes publishers wait for a call only for a while, for which a timer is set", () => {
    const relay = farBehind();
    expect([relay.full(1_000), relay.retryInMs(1_000)]).toEqual([true, 2_000]);
    expect([relay.full(3_000), relay.retryInMs(3_000)]).toEqual([false, undefined]);
    expect([relay.full(-1), relay.retryInMs(-1)]).toEqual([false, undefined]);
  });

  it.each(["failed", busy] as const)(
    "[F9] makes nobody wait after a call that ended with %j, until it takes one",
    (reply) => {
      const relay = following();
      addPublications(relay, 1, 1);
      relay.answered(onlyDelivery(relay), reply, 0);
      const again = onlyDelivery(relay, 1_000);
      addPublications(relay, 2, limits.relayAheadEntriesMax + 2);
      expect(relay.full(1_000)).toBe(false);
      relay.answered(again, taken, 1_000);
      const next = onlyDelivery(relay, 1_000);
      expect(relay.full(1_000)).toBe(true);
      relay.answered(next, left, 1_000);
      expect(relay.full(1_000)).toBe(false);
    },
  );

  it("[F9] makes publishers wait although another gateway is far ahead, and not because of one without a call", () => {
    const relay = following();
    relay.follow("quick", 0);
    addPublications(relay, 1, limits.relayAheadEntriesMax + 1);
    expect(relay.full(0)).toBe(false);
    for (const delivery of relay.deliveries(at(0), 0))
      if (delivery.gateway === "quick") relay.answered(delivery, taken, 0);
    expect(relay.full(0)).toBe(true);
  });
});

describe("a gateway without subscribers of the channel", () => {
  it("[L5] is forgotten, durably, and holds nothing in the log", () => {
    const sql = new NodeSql();
    const relay = openRelay(sql);
    relay.follow("a", 0);
    relay.follow("b", 0);
    addPublications(relay, 1, 1);
    for (const delivery of relay.deliveries(at(1), 0)) {
      relay.answered(delivery, delivery.gateway === "a" ? left : taken, 0);
    }
    expect([relay.gateways, relay.size]).toEqual([["b"], 1]);
    expect(openRelay(sql).gateways).toEqual(["b"]);
    addPublications(relay, 2, 2);
    expect(onlyDelivery(relay)).toMatchObject({ gateway: "b", batch: { first: 2 } });
  });

  it("[L5] stays when it asked again while it was being called", () => {
    const sql = new NodeSql();
    const relay = openRelay(sql);
    relay.follow("a", 0);
    addPublications(relay, 1, 1);
    const delivery = onlyDelivery(relay);
    expect(relay.follow("a", 0)).toMatchObject({ outcome: "following", sequence: 1 });
    relay.answered(delivery, left, 0);
    expect([relay.gateways, openRelay(sql).gateways]).toEqual([["a"], ["a"]]);
    addPublications(relay, 2, 2);
    const next = onlyDelivery(relay);
    expect(next.batch).toMatchObject({ first: 2, certain: true });
    relay.answered(next, left, 0);
    expect(relay.gateways).toEqual([]);
  });
});

describe("the number of gateways", () => {
  it("[B1] is bounded, but no following gateway is refused", () => {
    const relay = openRelay();
    for (let index = 0; index < limits.relayGatewaysMax; index++) {
      expect(relay.follow(`gateway ${index}`, 0).outcome).toBe("following");
    }
    expect(relay.follow("one more", 0)).toEqual({ outcome: "full" });
    expect(relay.follow("gateway 7", 0).outcome).toBe("following");
    expect(relay.size).toBe(limits.relayGatewaysMax);
  });
});

function following(): Relay {
  const relay = openRelay();
  relay.follow("a", 0);
  return relay;
}

/** A relay with a gateway that is being called since 0, for which publishers wait. */
function farBehind(): Relay {
  const relay = following();
  addPublications(relay, 1, limits.relayAheadEntriesMax + 1);
  onlyDelivery(relay);
  return relay;
}

function firsts(relay: Relay): number[] {
  return relay.deliveries(at(0), 0).map((delivery) => {
    relay.answered(delivery, busy, 0);
    return delivery.batch.first;
  });
}

function skipped(relay: Relay, offset: number, size: number) {
  relay.append(publication(offset, size), at(offset));
  return relay.deliveries(at(offset), 100).map(({ batch: { first, certain } }) => {
    return { first, certain };
  });
}
