import { describe, expect, it } from "vitest";
import { Backend, type Turn } from "../../../src/hooks/backend.ts";
import { limits } from "../../../src/limits.ts";

/** Asks once, and gives what came of it; undefined while the question waits. */
function ask(backend: Backend, nowMs: number, bytes = 1): { turn: Turn | undefined } {
  const asked: { turn: Turn | undefined } = { turn: undefined };
  backend.ask(bytes, nowMs, (turn) => {
    asked.turn = turn;
  });
  return asked;
}

function fill(backend: Backend, nowMs = 0): void {
  for (let count = 0; count < limits.hooksInFlightMax; count++)
    expect(ask(backend, nowMs).turn).toBe("go");
}

/** A backend that has failed until it counts as down, at time 0. */
function down(): Backend {
  const backend = new Backend();
  for (let count = 0; count < limits.hookFailuresMax; count++) {
    expect(ask(backend, 0).turn).toBe("go");
    backend.answered("failed", 0, 0);
  }
  return backend;
}

describe("[Q6] the questions to a backend", () => {
  it("are asked at once up to a number in flight, and the next one when one of them ends", () => {
    const backend = new Backend();
    fill(backend);
    const [first, second] = [ask(backend, 1), ask(backend, 2)];
    expect([first.turn, second.turn]).toEqual([undefined, undefined]);
    backend.answered("answered", 0, 3);
    expect([first.turn, second.turn]).toEqual(["go", undefined]);
    backend.answered("failed", 0, 3);
    expect(second.turn).toBe("go");
  });

  it("wait up to a number, and a further one is refused", () => {
    const backend = new Backend();
    fill(backend);
    for (let count = 0; count < limits.hooksWaitingMax; count++)
      expect(ask(backend, 0).turn).toBeUndefined();
    expect(ask(backend, 0).turn).toBe("busy");
  });

  it("wait up to a number of bytes, and a further one is refused", () => {
    const backend = new Backend();
    fill(backend);
    expect(ask(backend, 0, limits.hooksWaitingBytesMax - 1).turn).toBeUndefined();
    expect(ask(backend, 0, 2).turn).toBe("busy");
    expect(ask(backend, 0, 1).turn).toBeUndefined();
    backend.answered("answered", 0, 0);
    // The large one is in flight now, and takes no room among those that wait.
    expect(ask(backend, 0, limits.hooksWaitingBytesMax - 1).turn).toBeUndefined();
  });

  it("are skipped without end when nobody wants their answers any more", () => {
    const backend = new Backend();
    fill(backend);
    let skipped = 0;
    for (let count = 0; count < limits.hooksWaitingMax; count++)
      backend.ask(1, 0, () => {
        skipped++;
        backend.skipped(0);
      });
    backend.answered("answered", 0, 0);
    expect(skipped).toBe(limits.hooksWaitingMax);
    expect(ask(backend, 0).turn).toBe("go");
  });

  it("are refused when they have waited too long", () => {
    const backend = new Backend();
    fill(backend);
    const [late, intime] = [ask(backend, 0), ask(backend, 1)];
    backend.answered("answered", 0, limits.hookWaitMs + 1);
    expect([late.turn, intime.turn]).toEqual(["busy", "go"]);
  });
});

describe("[Q7] a backend that fails", () => {
  it("is asked until it has failed a number of times in a row", () => {
    const backend = new Backend();
    for (let count = 1; count < limits.hookFailuresMax; count++) {
      ask(backend, 0);
      backend.answered("failed", 0, 0);
    }
    expect(ask(backend, 0).turn).toBe("go");
    backend.answered("answered", 0, 0);
    for (let count = 1; count < limits.hookFailuresMax; count++) {
      ask(backend, 0);
      backend.answered("failed", 0, 0);
    }
    expect(ask(backend, 0).turn).toBe("go");
  });

  it("isn't asked for a second then, and by one question after it", () => {
    const backend = down();
    expect(ask(backend, limits.hookPauseMs - 1).turn).toBe("down");
    expect(ask(backend, limits.hookPauseMs).turn).toBe("go");
    expect(ask(backend, limits.hookPauseMs).turn).toBe("down");
    backend.answered("answered", 0, limits.hookPauseMs);
    expect(ask(backend, limits.hookPauseMs).turn).toBe("go");
    expect(ask(backend, limits.hookPauseMs).turn).toBe("go");
  });

  it("isn't asked for twice as long after each attempt that fails, up to a maximum", () => {
    const backend = down();
    let nowMs = limits.hookPauseMs;
    const pauses: number[] = [];
    for (let attempt = 0; attempt < 6; attempt++) {
      expect(ask(backend, nowMs).turn).toBe("go");
      backend.answered("failed", 0, nowMs);
      const failedMs = nowMs;
      while (ask(backend, nowMs).turn === "down") nowMs += 500;
      pauses.push(nowMs - failedMs);
      backend.answered("failed", 0, nowMs);
      nowMs += limits.hookPauseMsMax;
    }
    expect(pauses[0]).toBe(2_000);
    expect(Math.max(...pauses)).toBe(limits.hookPauseMsMax);
  });

  it("tells those that wait at once", () => {
    const backend = new Backend();
    fill(backend);
    const waiting = [ask(backend, 0), ask(backend, 0)];
    for (let count = 0; count < limits.hookFailuresMax; count++) {
      backend.answered("failed", 0, 0);
      // Each that ended let one go that waited.
      waiting.push(ask(backend, 0));
    }
    expect(waiting.at(-1)?.turn).toBe("down");
    expect(waiting.filter(({ turn }) => turn === undefined)).toEqual([]);
  });

  it("isn't down for longer because of questions that were in flight", () => {
    const backend = new Backend();
    fill(backend);
    for (let count = 0; count < limits.hooksInFlightMax; count++) backend.answered("failed", 0, 0);
    expect(ask(backend, limits.hookPauseMs).turn).toBe("go");
  });

  it("isn't asked for as long as it asks for, up to a maximum, after one failure", () => {
    const backend = new Backend();
    ask(backend, 0);
    backend.answered("failed", 5_000, 0);
    expect(ask(backend, 4_999).turn).toBe("down");
    expect(ask(backend, 5_000).turn).toBe("go");
    backend.answered("failed", limits.hookRetryAfterMsMax * 2, 5_000);
    expect(ask(backend, 5_000 + limits.hookRetryAfterMsMax - 1).turn).toBe("down");
    expect(ask(backend, 5_000 + limits.hookRetryAfterMsMax).turn).toBe("go");
  });

  it("is idle once it has answered everything", () => {
    const backend = new Backend();
    expect(backend.idle).toBe(true);
    ask(backend, 0);
    expect(backend.idle).toBe(false);
    backend.answered("failed", 0, 0);
    expect(backend.idle).toBe(false);
    ask(backend, 0);
    backend.answered("answered", 0, 0);
    expect(backend.idle).toBe(true);
  });
});
