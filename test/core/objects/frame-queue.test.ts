import { describe, expect, it } from "vitest";
import { limits } from "../../../src/limits.ts";
import { FrameQueue } from "../../../workers/objects/client.ts";

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

  it("[B1] wait only as far as there is room, and have room again when others were carried out", async () => {
    const scene = new Scene();
    const first = scene.frame("1", limits.framesWaitingBytesMax * 2);
    const second = scene.frame("2", limits.framesWaitingBytesMax);
    expect(scene.frame("3", 1).done).toBeUndefined();
    first.release();
    second.release();
    await Promise.all([first.done, second.done]);
    const fourth = scene.frame("4", limits.framesWaitingBytesMax);
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
  readonly #turns = new FrameQueue();

  frame(name: string, bytes = 1): Frame {
    const released = Promise.withResolvers<void>();
    const done = this.#turns.take(bytes, async () => {
      this.log.push(`${name} begins`);
      await released.promise;
      this.log.push(`${name} ends`);
    });
    return { done, release: released.resolve };
  }
}
