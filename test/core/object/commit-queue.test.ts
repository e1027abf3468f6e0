import { describe, expect, it } from "vitest";
import { CommitSharing } from "../../../src/channel/commit-sharing.ts";
import { limits } from "../../../src/limits.ts";
import { CommitQueue, type JobOutcome } from "../../../src/object/commit-queue.ts";

/** The queue's owner: writes down what it is told, and commits when the test says so. */
class Owner {
  readonly log: string[] = [];
  full = false;
  waitMs: number | undefined;
  readonly #commits: ((isDurable: boolean) => void)[] = [];
  /** Where the publications go: a long frame may be on its way. */
  readonly hub = { size: 1_000, sendsLong: false, isBehind: false };
  readonly #queue = new CommitQueue(
    {
      settle: () => this.log.push("settle"),
      full: () => this.full,
      wait: (waitMs) => (this.waitMs = waitMs),
      commit: (done) => this.#commits.push(done),
      guard: (work) => work(),
      // No time passes; the test says when a wait is over.
      nowMs: () => 0,
    },
    new CommitSharing({ hub: this.hub, relay: { size: 0, calling: true } }),
  );

  get committing(): boolean {
    return this.#queue.committing;
  }

  /** Adds a job that writes its name down and gives it back. */
  add(name: string, bytes = 0, kind: "publish" | "other" = "publish"): Promise<JobOutcome<string>> {
    const job = (): string => {
      this.log.push(name);
      if (name === "fails") throw new Error("planned");
      return name;
    };
    return new Promise((resolve) => this.#queue.enqueue(kind, bytes, job, resolve));
  }

  resume(): void {
    this.#queue.resume();
  }

  waited(): void {
    this.#queue.waited();
  }

  async commit(): Promise<void> {
    this.#commits.shift()?.(true);
  }
}

/** An owner behind a long frame: of two publishes that came together the second waits for another. */
async function ownerWithWait(): Promise<Owner> {
  const owner = new Owner();
  owner.hub.sendsLong = true;
  // The first is alone, as far as is known.
  void owner.add("1");
  void owner.add("2");
  await owner.commit();
  expect(owner.log).toEqual(["1", "settle"]);
  return owner;
}

describe("the commit queue", () => {
  it("[O2] sends what jobs published after their commit, and says that one is under way until then", async () => {
    const owner = new Owner();
    expect(owner.committing).toBe(false);
    void owner.add("1");
    expect(owner.committing).toBe(true);
    expect(owner.log).not.toContain("settle");
    await owner.commit();
    expect(owner.log).toEqual(["1", "settle"]);
    expect(owner.committing).toBe(false);
  });

  it("[B6] refuses a job beyond 32 MiB of waiting ones, and takes jobs again afterwards", async () => {
    const owner = new Owner();
    const bytes = limits.waitingBytesMax / 4 - 1_024;
    void owner.add("1");
    const taken = ["2", "3", "4", "5"].map((name) => owner.add(name, bytes));
    expect(await owner.add("refused", 0)).toEqual({ outcome: "overloaded", retryAfterSeconds: 1 });
    await owner.commit();
    for (const job of taken) expect((await job).outcome).toBe("done");
    const again = owner.add("6", bytes);
    await owner.commit();
    expect((await again).outcome).toBe("done");
    expect(owner.log).not.toContain("refused");
  });

  it("[B6] takes a job that finds nobody waiting, whatever it weighs", async () => {
    const owner = new Owner();
    void owner.add("1");
    const heavy = owner.add("2", limits.waitingBytesMax + 1);
    await owner.commit();
    expect((await heavy).outcome).toBe("done");
  });

  it("[B6] counts jobs that bring nothing too", async () => {
    const owner = new Owner();
    void owner.add("first");
    for (let job = 0; job < limits.waitingBytesMax / 1_024; job++) void owner.add("small");
    expect((await owner.add("one more")).outcome).toBe("overloaded");
  });

  it("[F6] lets publishes wait while too much is collected, and others not", async () => {
    const owner = new Owner();
    owner.full = true;
    void owner.add("publish 1");
    void owner.add("read 1", 0, "other");
    void owner.add("publish 2");
    void owner.add("read 2", 0, "other");
    expect(owner.log).toEqual(["read 1"]);
    await owner.commit();
    await owner.commit();
    expect(owner.log.slice(1)).toEqual(["settle", "read 2", "settle"]);
    expect(owner.committing).toBe(false);
    owner.full = false;
    owner.resume();
    expect(owner.log.slice(4)).toEqual(["publish 1", "publish 2"]);
  });

  it("[F7] [F11] lets publishes that come together wait for each other behind a long frame, until another job comes", async () => {
    const owner = await ownerWithWait();
    expect(owner.waitMs).toBe(limits.commitWaitMs);
    void owner.add("3");
    expect(owner.log.slice(2)).toEqual(["2", "3"]);
    expect(owner.waitMs).toBeUndefined();
    await owner.commit();
    void owner.add("4");
    expect(owner.committing).toBe(false);
    void owner.add("read", 0, "other");
    expect(owner.log.slice(5)).toEqual(["4", "read"]);
    await owner.commit();
    void owner.add("5");
    expect(owner.committing).toBe(false);
    // The frame has been sent.
    owner.hub.sendsLong = false;
    owner.resume();
    expect(owner.log.slice(8)).toEqual(["5"]);
  });

  it("[F7] ends that wait after its time, whatever the clock says, and still lets others wait while it is full", async () => {
    const owner = await ownerWithWait();
    owner.full = true;
    owner.waited();
    expect(owner.log).toEqual(["1", "settle"]);
    owner.full = false;
    owner.resume();
    expect(owner.log.slice(2)).toEqual(["2"]);
    await owner.commit();
    // It has waited in vain, so the next doesn't wait.
    void owner.add("3");
    expect(owner.log.slice(4)).toEqual(["3"]);
  });

  it("[F6] [B6] refuses publishes beyond 32 MiB that wait for room", async () => {
    const owner = new Owner();
    owner.full = true;
    const waiting = owner.add("1", limits.waitingBytesMax);
    expect((await owner.add("2")).outcome).toBe("overloaded");
    owner.full = false;
    owner.resume();
    expect((await waiting).outcome).toBe("done");
  });

  it("[B6] lets a failing job fail alone", async () => {
    const owner = new Owner();
    void owner.add("1");
    const failing = owner.add("fails");
    const next = owner.add("2");
    await owner.commit();
    expect(await failing).toEqual({ outcome: "threw", error: new Error("planned") });
    expect((await next).outcome).toBe("done");
    expect(owner.log).toEqual(["1", "settle", "fails", "2"]);
  });
});
