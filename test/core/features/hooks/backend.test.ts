import { describe, expect, it } from "vitest";
import { Backend, type Turn } from "../../../../src/features/hooks/backend.ts";
import { hookLimits } from "../../../../src/features/hooks/limits.ts";

interface AskedOnce {
  turn: Turn | undefined;
}

/** A backend, with the names of those whose questions are in flight, the oldest first. */
class Asked extends Backend {
  readonly inFlight: string[] = [];
  #others = 0;

  /** Asks once, and gives what came of it; undefined while the question waits. Without a name somebody new asks. */
  once(nowMs: number, bytes = 1, name = `${this.#others++}`): AskedOnce {
    const asked: AskedOnce = { turn: undefined };
    this.ask(name, bytes, nowMs, (turn) => {
      asked.turn = turn;
      if (turn === "go") this.inFlight.push(name);
    });
    return asked;
  }

  /** The oldest question in flight, or somebody's oldest one, ends. */
  ends(outcome: "answered" | "failed", pauseMs: number, nowMs: number, name?: string): void {
    const index = name === undefined ? 0 : this.inFlight.indexOf(name);
    const [ended = ""] = this.inFlight.splice(index, 1);
    this.answered(ended, outcome, pauseMs, nowMs);
  }
}

function ask(backend: Asked, nowMs: number, bytes?: number): AskedOnce {
  return backend.once(nowMs, bytes);
}

function fill(backend: Asked, nowMs = 0): void {
  for (let count = 0; count < hookLimits.hooksInFlightMax; count++)
    expect(ask(backend, nowMs).turn).toBe("go");
}

/** A backend that has failed until it counts as down, at time 0. */
function down(): Asked {
  const backend = new Asked();
  for (let count = 0; count < hookLimits.hookFailuresMax; count++) {
    expect(ask(backend, 0).turn).toBe("go");
    backend.ends("failed", 0, 0);
  }
  return backend;
}

describe("[Q6] the questions to a backend", () => {
  it("are asked at once up to a number in flight, and the next one when one of them ends", () => {
    const backend = new Asked();
    fill(backend);
    const [first, second] = [ask(backend, 1), ask(backend, 2)];
    expect([first.turn, second.turn]).toEqual([undefined, undefined]);
    backend.ends("answered", 0, 3);
    expect([first.turn, second.turn]).toEqual(["go", undefined]);
    backend.ends("failed", 0, 3);
    expect(second.turn).toBe("go");
  });

  it("wait up to a number, and a further one is refused", () => {
    const backend = new Asked();
    fill(backend);
    for (let count = 0; count < hookLimits.hooksWaitingMax; count++)
      expect(ask(backend, 0).turn).toBeUndefined();
    expect(ask(backend, 0).turn).toBe("busy");
  });

  it("wait up to a number of bytes, and a further one is refused", () => {
    const backend = new Asked();
    fill(backend);
    const share = hookLimits.hooksWaitingBytesShareMax;
    for (let bytes = 2 * share; bytes <= hookLimits.hooksWaitingBytesMax; bytes += share)
      expect(ask(backend, 0, share).turn).toBeUndefined();
    expect(ask(backend, 0, share - 1).turn).toBeUndefined();
    expect(ask(backend, 0, 2).turn).toBe("busy");
    expect(ask(backend, 0, 1).turn).toBeUndefined();
    backend.ends("answered", 0, 0);
    // A large one is in flight now, and takes no room among those that wait.
    expect(ask(backend, 0, share).turn).toBeUndefined();
  });

  it("are skipped without end when nobody wants their answers any more", () => {
    const backend = new Asked();
    fill(backend);
    let skipped = 0;
    for (let count = 0; count < hookLimits.hooksWaitingMax; count++)
      backend.ask(`${count % 2_000}-`, 1, 0, () => {
        skipped++;
        backend.skipped(`${count % 2_000}-`, 0);
      });
    backend.ends("answered", 0, 0);
    expect(skipped).toBe(hookLimits.hooksWaitingMax);
    expect(ask(backend, 0).turn).toBe("go");
  });

  it("are refused when they have waited too long", () => {
    const backend = new Asked();
    fill(backend);
    const [late, intime] = [ask(backend, 0), ask(backend, 1)];
    backend.ends("answered", 0, hookLimits.hookWaitMs + 1);
    expect([late.turn, intime.turn]).toEqual(["busy", "go"]);
  });
});

describe("[Q11] the share of one who asks", () => {
  const { hooksInFlightShareMax, hooksWaitingShareMax, hooksWaitingBytesShareMax } = hookLimits;

  /** A backend that one floods. */
  function flooded(): { readonly backend: Asked; readonly flood: readonly AskedOnce[] } {
    const backend = new Asked();
    const count = hooksInFlightShareMax + hooksWaitingShareMax + 1;
    const flood = Array.from({ length: count }, () => backend.once(0, 1, "flood"));
    return { backend, flood };
  }

  it("is a part of the questions in flight and of those that wait", () => {
    const { backend, flood } = flooded();
    expect(flood.filter(({ turn }) => turn === "go")).toHaveLength(hooksInFlightShareMax);
    expect(flood.at(-2)?.turn).toBeUndefined();
    expect(flood.at(-1)?.turn).toBe("busy");
    // Others have their own.
    expect(ask(backend, 0).turn).toBe("go");
  });

  it("has room again for each question that ends, whatever came of it", () => {
    const { backend } = flooded();
    while (backend.inFlight.length > 0) backend.ends("answered", 0, 0);
    expect(backend.idle).toBe(true);
    const again = Array.from({ length: hooksInFlightShareMax }, () => backend.once(0, 1, "flood"));
    expect(again.every(({ turn }) => turn === "go")).toBe(true);
  });

  it("is a part of the bytes that wait", () => {
    const backend = new Asked();
    for (let count = 0; count < hooksInFlightShareMax; count++) backend.once(0, 1, "flood");
    expect(backend.once(0, hooksWaitingBytesShareMax, "flood").turn).toBeUndefined();
    expect(backend.once(0, 1, "flood").turn).toBe("busy");
    backend.ends("answered", 0, 0);
    expect(backend.once(0, 1, "flood").turn).toBeUndefined();
  });

  it("is each one's turn, so that few questions don't wait behind many", () => {
    const { backend } = flooded();
    const shares = hookLimits.hooksInFlightMax / hooksInFlightShareMax;
    for (let share = 1; share < shares; share++)
      for (let count = 0; count < 2 * hooksInFlightShareMax; count++)
        backend.once(0, 1, `other ${share}`);
    const [first, second] = [backend.once(1, 1, "victim"), backend.once(1, 1, "victim")];
    expect(first.turn).toBeUndefined();
    // The others have all that they may have in flight, so two take turns.
    for (const turns of [
      ["go", undefined],
      ["go", "go"],
    ]) {
      for (let count = 0; count < 2; count++) backend.ends("answered", 0, 2, "other 1");
      expect([first.turn, second.turn]).toEqual(turns);
    }
  });
});

describe("[Q7] a backend that fails", () => {
  it("is asked until it has failed a number of times in a row", () => {
    const backend = new Asked();
    for (let count = 1; count < hookLimits.hookFailuresMax; count++) {
      ask(backend, 0);
      backend.ends("failed", 0, 0);
    }
    expect(ask(backend, 0).turn).toBe("go");
    backend.ends("answered", 0, 0);
    for (let count = 1; count < hookLimits.hookFailuresMax; count++) {
      ask(backend, 0);
      backend.ends("failed", 0, 0);
    }
    expect(ask(backend, 0).turn).toBe("go");
  });

  it("isn't asked for a second then, and by one question after it", () => {
    const backend = down();
    expect(ask(backend, hookLimits.hookPauseMs - 1).turn).toBe("down");
    expect(ask(backend, hookLimits.hookPauseMs).turn).toBe("go");
    expect(ask(backend, hookLimits.hookPauseMs).turn).toBe("down");
    backend.ends("answered", 0, hookLimits.hookPauseMs);
    expect(ask(backend, hookLimits.hookPauseMs).turn).toBe("go");
    expect(ask(backend, hookLimits.hookPauseMs).turn).toBe("go");
  });

  it("isn't asked for twice as long after each attempt that fails, up to a maximum", () => {
    const backend = down();
    let nowMs = hookLimits.hookPauseMs;
    const pauses: number[] = [];
    for (let attempt = 0; attempt < 6; attempt++) {
      expect(ask(backend, nowMs).turn).toBe("go");
      backend.ends("failed", 0, nowMs);
      const failedMs = nowMs;
      while (ask(backend, nowMs).turn === "down") nowMs += 500;
      pauses.push(nowMs - failedMs);
      backend.ends("failed", 0, nowMs);
      nowMs += hookLimits.hookPauseMsMax;
    }
    expect(pauses[0]).toBe(2_000);
    expect(Math.max(...pauses)).toBe(hookLimits.hookPauseMsMax);
  });

  it("tells those that wait at once", () => {
    const backend = new Asked();
    fill(backend);
    const waiting = [ask(backend, 0), ask(backend, 0)];
    for (let count = 0; count < hookLimits.hookFailuresMax; count++) {
      backend.ends("failed", 0, 0);
      // Each that ended let one go that waited.
      waiting.push(ask(backend, 0));
    }
    expect(waiting.at(-1)?.turn).toBe("down");
    expect(waiting.filter(({ turn }) => turn === undefined)).toEqual([]);
  });

  it("isn't down for longer because of questions that were in flight", () => {
    const backend = new Asked();
    fill(backend);
    for (let count = 0; count < hookLimits.hooksInFlightMax; count++) backend.ends("failed", 0, 0);
    expect(ask(backend, hookLimits.hookPauseMs).turn).toBe("go");
  });

  it("isn't asked for as long as it asks for, up to a maximum, after one failure", () => {
    const backend = new Asked();
    ask(backend, 0);
    backend.ends("failed", 5_000, 0);
    expect(ask(backend, 4_999).turn).toBe("down");
    expect(ask(backend, 5_000).turn).toBe("go");
    backend.ends("failed", hookLimits.hookRetryAfterMsMax * 2, 5_000);
    expect(ask(backend, 5_000 + hookLimits.hookRetryAfterMsMax - 1).turn).toBe("down");
    expect(ask(backend, 5_000 + hookLimits.hookRetryAfterMsMax).turn).toBe("go");
  });
});
