import { describe, expect, it } from "vitest";
import { limits } from "../../../src/limits.ts";
import { Arrivals } from "../../../src/object/arrivals.ts";

/** An object that sends when the test says so, and whose time passes when the test says so. */
class SendingObject {
  nowMs = 1_000_000;
  isSending = true;
  /** What has happened, in order. */
  readonly log: string[] = [];
  readonly #later: (() => void)[] = [];
  readonly arrivals = new Arrivals({
    nowMs: () => this.nowMs,
    isSending: () => this.isSending,
    later: (_, work) => this.#later.push(work),
  });

  constructor() {
    // The first slice of the frame has just been sent.
    this.arrivals.goBefore();
  }

  arrive(name: string, isInside = false, bytes = 1): void {
    this.arrivals.arrive({
      bytes,
      isInside,
      enter: () => this.log.push(name),
      refuse: () => this.log.push(`${name} is refused`),
    });
  }

  /** A turn of the event loop before a slice, which takes a while. */
  turn(takesMs: number): void {
    if (!this.arrivals.goBefore()) this.log.push("slice");
    this.nowMs += takesMs;
  }

  /** The frame has been sent. */
  sent(): void {
    this.isSending = false;
    this.arrivals.open();
  }

  /** @returns whether there was work */
  workLater(): boolean {
    const work = this.#later.shift();
    work?.();
    return work !== undefined;
  }
}

describe("arrivals at an object", () => {
  it("[F12] come in at once while nothing is sent", () => {
    const object = new SendingObject();
    object.isSending = false;
    object.arrive("a");
    object.arrive("b", true);
    expect(object.log).toEqual(["a", "b"]);
  });

  it("[F12] take turns with the slices of a frame, by time", () => {
    const object = new SendingObject();
    for (let index = 0; index < 1_000; index++) object.arrive(`a${index}`);
    expect(object.log).toEqual([]);
    const { arrivalsTurnMs, deliveriesTurnMs } = limits;
    for (let turn = 0; turn < 4 * (arrivalsTurnMs + deliveriesTurnMs); turn++) object.turn(1);
    const slices = object.log.filter((what) => what === "slice").length;
    expect(slices).toBe(4 * deliveriesTurnMs);
    expect(object.log.slice(0, deliveriesTurnMs)).toEqual(
      Array.from({ length: deliveriesTurnMs }, () => "slice"),
    );
  });

  it("[F12] wait for no turn of others: slices that take long are followed by arrivals", () => {
    const object = new SendingObject();
    object.arrive("a");
    object.turn(limits.deliveriesTurnMs);
    object.turn(limits.arrivalsTurnMs);
    object.turn(1);
    expect(object.log).toEqual(["slice", "a", "slice"]);
  });

  it("[F12] let frames of those that are inside go first, each kind in its order", () => {
    const object = new SendingObject();
    object.arrive("socket 1");
    object.arrive("frame 1", true);
    object.arrive("socket 2");
    object.arrive("frame 2", true);
    object.sent();
    expect(object.workLater()).toBe(true);
    expect(object.log).toEqual(["frame 1", "frame 2", "socket 1", "socket 2"]);
    expect(object.workLater()).toBe(false);
  });

  it("[F12] come in by and by when the frame has been sent, and wait again for the next one", () => {
    const object = new SendingObject();
    for (let index = 0; index < 2 * limits.arrivalsSlice; index++) object.arrive(`a${index}`);
    object.sent();
    object.workLater();
    expect(object.log).toHaveLength(limits.arrivalsSlice);
    object.isSending = true;
    object.arrivals.open();
    object.workLater();
    expect(object.log).toHaveLength(limits.arrivalsSlice);
  });

  it("[F13] are refused when they have waited for too long, and no others", () => {
    const object = new SendingObject();
    object.arrive("early");
    object.nowMs += limits.arrivalWaitMs;
    object.arrive("late");
    object.turn(1);
    expect(object.log).toEqual(["early is refused", "late"]);
  });

  it("[B1] [F13] are refused at once when too much waits, until there is room", () => {
    const object = new SendingObject();
    const bytes = limits.arrivalsWaitingBytesMax / 2;
    for (const name of ["a", "b", "c"]) object.arrive(name, false, bytes);
    expect(object.log).toEqual(["c is refused"]);
    object.sent();
    object.workLater();
    object.isSending = true;
    object.arrive("d", false, bytes);
    expect(object.log).toEqual(["c is refused", "a", "b"]);
  });
});
