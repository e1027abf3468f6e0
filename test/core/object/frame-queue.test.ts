import { describe, expect, it } from "vitest";
import { limits } from "../../../src/limits.ts";
import { FrameQueue } from "../../../src/object/frame-queue.ts";

describe("the frames of one socket", () => {
  it("[O6] are carried out one after the other, however long each takes", async () => {
    const scene = new Scene();
    const [first, second, third] = [scene.frame("1"), scene.frame("2"), scene.frame("3")];
    expect(scene.log).toEqual(["1 begins"]);
    second.release();
    third.release();
    first.release();
    await Promise.all([first.done, second.done, third.done]);
    expect(scene.log).toEqual(["1 begins", "1 ends", "2 begins", "2 ends", "3 begins", "3 ends"]);
  });

  it("[O6] begin at once when none is before them", async () => {
    const scene = new Scene();
    const first = scene.frame("1");
    first.release();
    await first.done;
    scene.frame("2");
    expect(scene.log).toEqual(["1 begins", "1 ends", "2 begins"]);
  });

  it.each([
    ["of the connection", 0, limits.framesBurstBytesMax],
    ["where those of others take the object's memory", limits.waitingBytesMax, 262_144],
  ])("[B1] [B17] wait as far as there is room, %s", async (_, othersBytes, most) => {
    const scene = new Scene();
    scene.all.bytes = othersBytes;
    const first = scene.frame("1", most * 2);
    const second = scene.frame("2", most);
    expect(scene.frame("3", 1).done).toBeUndefined();
    expect(scene.all.bytes).toBe(othersBytes + most);
    first.release();
    second.release();
    await Promise.all([first.done, second.done]);
    expect(scene.all.bytes).toBe(othersBytes);
    const fourth = scene.frame("4", most);
    fourth.release();
    await fourth.done;
    expect(scene.log.filter((line) => line.endsWith("begins"))).toEqual([
      "1 begins",
      "2 begins",
      "4 begins",
    ]);
  });
});

interface Frame {
  readonly done: Promise<void> | undefined;
  readonly release: () => void;
}

/** Frames that end when the test says so. */
class Scene {
  readonly log: string[] = [];
  readonly all = { bytes: 0 };
  readonly #turns = new FrameQueue(this.all);

  frame(name: string, bytes = 1): Frame {
    const released = Promise.withResolvers<void>();
    const done = Promise.withResolvers<void>();
    const carryOut = async (over: () => void): Promise<void> => {
      this.log.push(`${name} begins`);
      await released.promise;
      this.log.push(`${name} ends`);
      over();
      done.resolve();
    };
    const isTaken = this.#turns.enqueue(bytes, (over) => void carryOut(over));
    return { done: isTaken ? done.promise : undefined, release: released.resolve };
  }
}
