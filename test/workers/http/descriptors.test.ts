import { env } from "cloudflare:workers";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { limits } from "../../../src/limits.ts";
import { Descriptors } from "../../../workers/platform/descriptors.ts";

const max = 1_000;
const { descriptorsPerRequest: each } = limits;

/** The folder of a process with so many descriptors open, which counts how often it is read. */
class Folder {
  used: number;
  reads = 0;
  readonly descriptors: Descriptors;

  constructor(used: number) {
    this.used = used;
    const fetcher = new Proxy(env.BACKEND, {
      get: (target, property) =>
        property === "fetch" ? async () => this.#read() : Reflect.get(target, property),
    });
    this.descriptors = new Descriptors(fetcher, max);
  }

  #read(): Response {
    this.reads++;
    return Response.json(Array.from({ length: this.used }, (_, name) => ({ name: `${name}` })));
  }
}

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date"] });
});
afterEach(() => {
  vi.useRealTimers();
});

describe("the file descriptors of a server", () => {
  it.each([
    ["request", limits.descriptorsSpare],
    ["known", limits.descriptorsSpare / 2],
    ["call", limits.descriptorsSpare / 2],
  ] as const)("[B1] [B10] keep a part free: the last %s has room before it", async (use, part) => {
    // Of what is free beyond the part, half is given away between two readings.
    const most = max - max * part - 2 * each;
    expect(await new Folder(most).descriptors.haveRoom(use)).toBe(true);
    expect(await new Folder(most + 1).descriptors.haveRoom(use)).toBe(false);
  });

  it("[B1] [B10] are counted as taken by requests that were let in since the last reading", async () => {
    const free = 20 * each;
    const folder = new Folder(max - max * limits.descriptorsSpare - free);
    let count = 0;
    while (count < 20 && (await folder.descriptors.haveRoom("request"))) count++;
    expect(count).toBe(free / 2 / each);
  });

  it("[B1] [B10] are read again after a while", async () => {
    const folder = new Folder(100);
    const ask = () => folder.descriptors.haveRoom("request");
    await ask();
    folder.used = max;
    vi.setSystemTime(Date.now() + limits.descriptorsReadMs - 1);
    expect(await ask()).toBe(true);
    expect(folder.reads).toBe(1);
    vi.setSystemTime(Date.now() + 1);
    expect(await ask()).toBe(false);
    expect(folder.reads).toBe(2);
  });
});
