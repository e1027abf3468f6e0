import { describe, expect, it } from "vitest";
import { Backlog, Overload } from "../../../src/hub/backlog.ts";
import { limits } from "../../../src/limits.ts";
import { type DisconnectCode, disconnectCodes } from "../../../src/protocol/codes.ts";

const kib = 1_024;
const mib = 1_048_576;

describe("an overload", () => {
  it("[B27] ends when those that take nothing are cut, the worst first, and everybody else stays", () => {
    const { overload, sockets } = overloaded({ stalled: 126, quiet: 8_000 });
    expect(overload.judge(sockets, 0)).toMatchObject({ tooMuch: true, cut: [] });
    expect(overload.judge(sockets, limits.stalledMs - 1)).toMatchObject({ tooMuch: true, cut: [] });
    const { tooMuch, bytes, cut } = overload.judge(sockets, limits.stalledMs);
    expect(tooMuch).toBe(false);
    expect(bytes).toBeLessThanOrEqual(limits.backlogBytesMax * 0.75);
    expect(cut.length).toBeGreaterThan(64);
    expect(cut.every(({ name }) => name.startsWith("stalled"))).toBe(true);
    const sizes = cut.map(({ bytes: behind }) => behind);
    expect(sizes).toEqual(sizes.toSorted((one, other) => other - one));
  });

  it("[B27] spares those that take an eighth in a quarter of a second, and not who takes less", () => {
    const { overload, sockets } = overloaded({ stalled: 100, quiet: 0 });
    overload.judge(sockets, 0);
    for (const socket of sockets.slice(1)) socket.bytes *= 0.87;
    const [trickling] = sockets;
    if (trickling !== undefined) trickling.bytes *= 0.88;
    const judged = overload.judge(sockets, limits.stalledMs);
    expect(judged).toMatchObject({ tooMuch: true, cut: [trickling] });
  });

  it("[B27] lasts at most 5 s, also where everybody reads slowly: then who has more than a share is cut", () => {
    const { overload, sockets } = overloaded({ stalled: 100, quiet: 28 });
    // They all take a fifth each time, and are still behind.
    for (const socket of sockets) socket.bytes *= 80;
    for (let nowMs = 0; nowMs < limits.overloadMsMax; nowMs += limits.stalledMs) {
      expect(overload.judge(sockets, nowMs)).toMatchObject({ tooMuch: true, cut: [] });
      for (const socket of sockets) socket.bytes *= 0.8;
    }
    for (const socket of sockets.slice(0, 100)) socket.bytes = mib;
    const { tooMuch, cut } = overload.judge(sockets, limits.overloadMsMax);
    expect([tooMuch, cut.length]).toEqual([false, 53]);
  });

  it("[B27] begins anew after it was over, and after the clock was set back", () => {
    const { overload, sockets } = overloaded({ stalled: 100, quiet: 0 });
    expect(overload.judge(sockets, 10_000).tooMuch).toBe(true);
    for (const socket of sockets) socket.bytes /= 2;
    expect(overload.judge(sockets, 10_001).tooMuch).toBe(false);
    for (const socket of sockets) socket.bytes *= 2;
    expect(overload.judge(sockets, 10_000 + limits.stalledMs)).toMatchObject({ cut: [] });
    expect(overload.judge(sockets, 5)).toMatchObject({ tooMuch: true, cut: [] });
    expect(overload.judge(sockets, 5 + limits.stalledMs).cut).not.toEqual([]);
  });

  it("[B3] bears sockets whose backlog is unknown and taken for infinite", () => {
    const { overload, sockets } = overloaded({ stalled: 1, quiet: 10 });
    for (const socket of sockets.slice(0, 1)) socket.bytes = Number.POSITIVE_INFINITY;
    expect(overload.judge(sockets, 0).tooMuch).toBe(true);
    const { tooMuch, cut } = overload.judge(sockets, limits.stalledMs);
    expect([tooMuch, cut]).toEqual([false, sockets.slice(0, 1)]);
  });
});

describe("the backlog of an object", () => {
  it("[B3] counts replies at once, and sockets four times a second", () => {
    const { sockets, counted, backlog } = object(100);
    expect(backlog.overloaded()).toBe(false);
    expect(counted()).toBe(1);
    backlog.sent(60 * mib);
    expect([backlog.overloaded(), counted()]).toEqual([false, 1]);
    for (const socket of sockets) socket.bytes = mib;
    backlog.sent(40 * mib);
    expect([backlog.overloaded(), counted()]).toEqual([true, 2]);
    expect([backlog.overloaded(), counted()]).toEqual([true, 2]);
  });

  it("[B26] has no room for a reply with which it would be too large", () => {
    const { backlog } = object(1);
    backlog.overloaded();
    backlog.sent(63 * mib);
    expect(backlog.overloaded(mib)).toBe(false);
    const { sockets, backlog: full } = object(63);
    for (const socket of sockets) socket.bytes = mib;
    expect([full.overloaded(mib), full.overloaded(mib + 1)]).toEqual([false, true]);
  });

  it("[B27] disconnects those that don't read, as slow", () => {
    const { sockets, clock, backlog } = object(100);
    for (const socket of sockets) socket.bytes = mib;
    expect(backlog.overloaded()).toBe(true);
    clock.nowMs += limits.stalledMs;
    expect(backlog.overloaded()).toBe(false);
    const cut = sockets.flatMap(({ disconnects }) => disconnects);
    expect(cut).toHaveLength(52);
    expect(new Set(cut)).toEqual(new Set([disconnectCodes.slow]));
  });
});

/** A socket with a backlog as the test says. */
class TestedSocket {
  readonly name: string;
  bytes: number;
  readonly disconnects: DisconnectCode[] = [];

  constructor(name: string, bytes: number) {
    this.name = name;
    this.bytes = bytes;
  }

  backlogBytes(): number {
    return this.bytes;
  }

  disconnect(code: DisconnectCode): void {
    this.disconnects.push(code);
    this.bytes = 0;
  }
}

function overloaded({ stalled, quiet }: { readonly stalled: number; readonly quiet: number }) {
  const sockets = [
    ...Array.from(
      { length: stalled },
      (_, index) => new TestedSocket(`stalled ${index}`, mib - index),
    ),
    ...Array.from({ length: quiet }, (_, index) => new TestedSocket(`quiet ${index}`, kib)),
  ];
  return { overload: new Overload<TestedSocket>(), sockets };
}

function object(size: number) {
  const sockets = Array.from({ length: size }, (_, index) => new TestedSocket(`${index}`, 0));
  const clock = { nowMs: 1_000 };
  let count = 0;
  const list = (): readonly TestedSocket[] => {
    count++;
    return sockets;
  };
  const backlog = new Backlog({ sockets: list, nowMs: () => clock.nowMs });
  return { sockets, clock, backlog, counted: () => count };
}
