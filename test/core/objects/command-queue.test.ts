import { describe, expect, it } from "vitest";
import type { ChannelAnswers, ChannelCommand } from "../../../src/api/channel-command.ts";
import { limits } from "../../../src/limits.ts";
import { trustedJsonText } from "../../../src/protocol/json-text.ts";
import { CommandQueue } from "../../../workers/objects/command-queue.ts";

/** The queue's owner: writes down what it is told, and commits when the test says so. */
class Owner {
  readonly log: string[] = [];
  readonly #commits: PromiseWithResolvers<void>[] = [];
  readonly queue = new CommandQueue({
    carryOut: (commands) => this.#carryOut(commands),
    settle: () => this.log.push("settle"),
    committed: () => {
      const commit = Promise.withResolvers<void>();
      this.#commits.push(commit);
      return commit.promise;
    },
  });

  async commit(): Promise<void> {
    this.#commits.shift()?.resolve();
    // The queue goes on in the turn after the commit.
    await new Promise((resolve) => setImmediate(resolve));
  }

  #carryOut(commands: readonly ChannelCommand[]): ChannelAnswers {
    for (const command of commands) {
      const data = command.method === "publish" ? command.request.data : command.method;
      this.log.push(data.slice(0, 10));
      if (data === '"fail"') throw new Error("planned");
    }
    return { outcome: "answers", answers: commands.map(() => ({ result: trustedJsonText("{}") })) };
  }
}

describe("[B6] the command queue", () => {
  it("[B6] carries a call out at once when nothing is under way", async () => {
    const { queue, log } = new Owner();
    const answered = queue.add([publishing("1")]);
    expect(log).toEqual(["1", "settle"]);
    expect(await answered).toEqual({ outcome: "answers", answers: [{ result: "{}" }] });
  });

  it("[B6] lets calls that come during a commit share the next, in their order", async () => {
    const owner = new Owner();
    const { queue, log } = owner;
    void queue.add([publishing("1")]);
    void queue.add([publishing("2")]);
    void queue.add([publishing("3"), publishing("4")]);
    expect(log).toEqual(["1", "settle"]);
    await owner.commit();
    expect(log).toEqual(["1", "settle", "2", "3", "4", "settle"]);
    void queue.add([publishing("5")]);
    expect(log).toHaveLength(6);
    await owner.commit();
    await owner.commit();
    void queue.add([publishing("6")]);
    expect(log.slice(6)).toEqual(["5", "settle", "6", "settle"]);
  });

  it("[B6] answers a call when it was carried out; what is sent waits for the commit by itself", async () => {
    const owner = new Owner();
    void owner.queue.add([publishing("1")]);
    const second = owner.queue.add([publishing("2")]);
    await owner.commit();
    expect((await second).outcome).toBe("answers");
  });

  it("[B6] refuses a call beyond 32 MiB of waiting ones, and takes calls again afterwards", async () => {
    const owner = new Owner();
    const { queue } = owner;
    const large = publishing(`"${"x".repeat(limits.waitingBytesMax / 4 - 2_000)}"`);
    void queue.add([publishing("1")]);
    const taken = [1, 2, 3, 4].map(() => queue.add([large]));
    const refused = await queue.add([large]);
    expect(refused).toEqual({ outcome: "overloaded", retryAfterSeconds: 1 });
    await owner.commit();
    for (const call of taken) expect((await call).outcome).toBe("answers");
    const again = queue.add([large]);
    await owner.commit();
    expect((await again).outcome).toBe("answers");
  });

  it("[B6] counts small commands too", async () => {
    const { queue } = new Owner();
    void queue.add([publishing("1")]);
    const many = Array.from({ length: 16_000 }, () => ({ method: "presence" }) as const);
    void queue.add(many);
    void queue.add(many);
    expect((await queue.add(many)).outcome).toBe("overloaded");
  });

  it("[B6] lets a failing call fail alone", async () => {
    const owner = new Owner();
    const { queue, log } = owner;
    void queue.add([publishing("1")]);
    const failing = queue.add([publishing('"fail"')]).catch((error: Error) => error.message);
    const next = queue.add([publishing("2")]);
    await owner.commit();
    expect(await failing).toBe("planned");
    expect((await next).outcome).toBe("answers");
    expect(log).toEqual(["1", "settle", '"fail"', "2", "settle"]);
  });
});

function publishing(data: string): ChannelCommand {
  return {
    method: "publish",
    request: {
      data: trustedJsonText(data),
      skipHistory: false,
      idempotencyKey: "",
      version: 0n,
      versionEpoch: "",
      delta: false,
    },
  };
}
