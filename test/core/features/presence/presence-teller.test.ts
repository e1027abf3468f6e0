import { describe, expect, it } from "vitest";
import type { PresenceKind } from "../../../../src/contract/relay-request.ts";
import {
  PresenceTeller,
  type PresenceTelling,
} from "../../../../src/features/presence/presence-teller.ts";
import { mapLimits } from "../../../../src/features/maps/limits.ts";

const maps = [
  { kind: "clients", channel: "clients:room" },
  { kind: "users", channel: "users:room" },
] as const;

const client = (name: string) => ({ user: `u-${name}`, client: name });

function tellerOf(...kinds: readonly PresenceKind[]): PresenceTeller {
  return new PresenceTeller(
    "room",
    maps.filter(({ kind }) => kinds.includes(kind)),
  );
}

/** A call, as a map's name and what it is told of whom. */
function told({ map, told: { source, changes } }: PresenceTelling): string {
  const all = changes.map(({ type, info }) => `${type} ${info.client || info.user}`);
  return `${source} > ${map.channel}: ${all.join(", ")}`;
}

const callsOf = (teller: PresenceTeller, nowMs = 0) => teller.calls(nowMs).map(told);

/** The only call to make. */
function onlyCall(teller: PresenceTeller, nowMs = 0): PresenceTelling {
  const [call, ...others] = teller.calls(nowMs);
  if (call === undefined || others.length > 0) throw new Error("not one call");
  return call;
}

const taken = { outcome: "taken" } as const;
const left = { outcome: "left" } as const;

describe("what presence maps are told", () => {
  it("[Z27] are clients that come and go, and users that come", () => {
    const teller = tellerOf("clients", "users");
    teller.here(client("a"));
    teller.here({ user: "", client: "b" });
    teller.away(client("c"));
    expect(callsOf(teller)).toEqual([
      "room > clients:room: here a, here b, away c",
      "room > users:room: here u-a",
    ]);
  });

  it("[Z27] comes in one call at a time, with the last of each client, in their order", () => {
    const teller = tellerOf("clients");
    teller.here(client("a"));
    const call = onlyCall(teller);
    teller.here(client("b"));
    teller.here(client("c"));
    teller.away(client("b"));
    expect(callsOf(teller)).toEqual([]);
    teller.answered(call, taken, 0);
    expect(callsOf(teller)).toEqual(["room > clients:room: here c, away b"]);
  });

  it("[Z22] [Z28] is nothing while nobody looks, until the map's object asks", () => {
    const teller = tellerOf("clients");
    teller.here(client("a"));
    teller.answered(onlyCall(teller), left, 0);
    teller.here(client("b"));
    expect(callsOf(teller)).toEqual([]);
    teller.asked("users");
    teller.here(client("c"));
    expect(callsOf(teller)).toEqual([]);
    teller.asked("clients");
    teller.here(client("d"));
    expect(callsOf(teller)).toEqual(["room > clients:room: here d"]);
  });

  it("[Z27] goes on if the map's object asks while a call is under way that it answers with left", () => {
    const teller = tellerOf("clients");
    teller.here(client("a"));
    const call = onlyCall(teller);
    teller.asked("clients");
    teller.here(client("b"));
    teller.answered(call, left, 0);
    expect(callsOf(teller)).toEqual(["room > clients:room: here b"]);
  });

  it.each(["failed", { outcome: "busy" }] as const)(
    "[Z27] [Z37] is repeated before what came since after a call that is %j, and then dropped",
    (reply) => {
      const teller = tellerOf("clients");
      teller.here(client("a"));
      teller.here(client("b"));
      let nowMs = 0;
      for (let tries = 1; tries < mapLimits.mirrorTellTriesMax; tries++) {
        const call = onlyCall(teller, nowMs);
        if (tries === 1) {
          teller.here(client("c"));
          teller.away(client("a"));
        }
        teller.answered(call, reply, nowMs);
        expect(teller.retryInMs(nowMs)).toBe(mapLimits.mirrorTellRetryMs);
        expect(callsOf(teller, nowMs + mapLimits.mirrorTellRetryMs - 1)).toEqual([]);
        nowMs += mapLimits.mirrorTellRetryMs;
      }
      const last = onlyCall(teller, nowMs);
      expect(told(last)).toBe("room > clients:room: here b, here c, away a");
      teller.answered(last, reply, nowMs);
      expect(teller.retryInMs(nowMs)).toBeUndefined();
      expect(callsOf(teller, nowMs)).toEqual([]);
      teller.here(client("d"));
      expect(callsOf(teller, nowMs)).toEqual(["room > clients:room: here d"]);
    },
  );

  it("[Z37] is as much in a call, and waits as long, as the limits allow", () => {
    const teller = tellerOf("clients");
    teller.here(client("first"));
    let call = onlyCall(teller);
    for (let index = 0; index < mapLimits.mirrorToldWaitingMax; index++)
      teller.here(client(`c${index}`));
    teller.here(client("beyond"));
    teller.away(client("c1"));
    const all: string[] = [];
    for (;;) {
      teller.answered(call, taken, 0);
      const [next] = teller.calls(0);
      if (next === undefined) break;
      call = next;
      expect(call.told.changes.length).toBeLessThanOrEqual(mapLimits.mirrorToldMax);
      all.push(...call.told.changes.map(({ type, info }) => `${type} ${info.client}`));
    }
    expect(all).toHaveLength(mapLimits.mirrorToldWaitingMax);
    expect(all.at(-1)).toBe("away c1");
    expect(all).not.toContain("here beyond");
  });
});
