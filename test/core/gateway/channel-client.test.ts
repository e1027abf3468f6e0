import { describe, expect, it } from "vitest";
import { limits } from "../../../src/limits.ts";
import type { RelayReply, RelayRequest } from "../../../src/contract/relay-request.ts";
import { ChannelClient } from "../../../src/gateway/channel-client.ts";
import { json } from "../api/channel-config.ts";
import { ScriptedPort } from "./scripted-port.ts";

describe("upstream", () => {
  it("[O6] lets what is asked during a call share the next one, and answers in order", () => {
    const asking = new Asking();
    asking.ask("follow");
    asking.ask("publish 1", "history", "publish 2");
    expect(asking.port.calls).toEqual(["follow"]);
    asking.port.answer(following);
    expect(asking.port.calls).toEqual(["follow", "publish history publish"]);
    asking.port.answer(published(1), history, published(2));
    expect(asking.heard).toEqual([
      "follow following",
      "publish 1 published",
      "history history",
      "publish 2 published",
    ]);
  });

  it("asks what an answer makes somebody ask together, after what waited before", () => {
    const asking = new Asking();
    asking.ask("follow", "history");
    asking.onAnswer = (label) => asking.ask(label === "follow" ? "newest" : "announce");
    asking.ask("publish 1");
    asking.port.answer(following);
    asking.onAnswer = undefined;
    expect(asking.port.calls).toEqual(["follow history", "publish newest announce"]);
  });

  it("[B1] answers 111 at once when as many questions wait as may", () => {
    const asking = new Asking();
    asking.ask("follow");
    for (let count = 0; count < limits.requestsWaitingMax; count++) asking.ask("history");
    asking.ask("publish 1");
    expect(asking.heard).toEqual(["publish 1 111"]);
  });

  it("[B1] answers 111 at once when the waiting questions hold as many bytes as they may", () => {
    const asking = new Asking();
    asking.ask("follow");
    const large = `publish "${"x".repeat(limits.requestsWaitingBytesMax / 8)}"`;
    for (let count = 0; count < 8; count++) asking.ask(large);
    expect(asking.heard).toEqual([`${large} 111`]);
    asking.port.answer(following);
    asking.ask(large);
    expect(asking.heard).toEqual([`${large} 111`, "follow following"]);
  });

  it("[B1] asks no more in one call than may be, and a larger question alone", () => {
    const asking = new Asking();
    asking.ask("follow");
    for (let count = 0; count <= limits.requestsPerCallMax; count++) asking.ask("newest");
    asking.ask(`publish "${"x".repeat(limits.requestsPerCallBytesMax)}"`, "history");
    asking.port.answer(following);
    expect(asking.port.questions).toHaveLength(limits.requestsPerCallMax);
    asking.port.answer();
    expect(asking.port.calls.at(-1)).toBe("newest");
    asking.port.answer();
    expect(asking.port.calls.at(-1)).toBe("publish");
    asking.port.answer();
    expect(asking.port.calls.at(-1)).toBe("history");
  });

  it("repeats what does no harm once when a call failed, and never a publish", () => {
    const asking = new Asking();
    asking.ask("follow", "recover", "publish 1", "newest", "history");
    asking.ask("publish 2");
    asking.port.fail();
    expect(asking.port.calls.at(-1)).toBe("follow recover newest history publish");
    asking.port.fail();
    expect(asking.port.calls).toHaveLength(2);
    expect(asking.heard).toEqual([
      "follow 100",
      "recover 100",
      "publish 1 100",
      "newest 100",
      "history 100",
      "publish 2 100",
    ]);
  });

  it("[O6] answers a publish that failed after what was asked before it", () => {
    const asking = new Asking();
    asking.ask("history", "publish 1", "history");
    asking.port.fail();
    expect(asking.heard).toEqual([]);
    asking.port.answer(history, history);
    expect(asking.heard).toEqual(["history history", "publish 1 100", "history history"]);
  });

  it("[O5] repeats a leave twice before it is given up", () => {
    const asking = new Asking();
    asking.ask("announce");
    asking.port.fail();
    asking.port.fail();
    expect(asking.port.calls).toEqual(["announce", "announce", "announce"]);
    asking.port.fail();
    expect(asking.heard).toEqual(["announce 100"]);
    expect(asking.port.open).toBe(0);
  });

  it("[B4] asks an overloaded object again, later, what nobody else repeats", () => {
    const asking = new Asking();
    asking.ask("publish 1", "follow", "recover", "publish 2", "announce", "history");
    asking.port.refuse();
    expect(asking.heard).toEqual(["publish 1 111"]);
    asking.ask("publish 3");
    expect(asking.port.open).toBe(0);
    expect(asking.upstream.settle(1_000)).toBe(limits.overloadRetryMs);
    expect(asking.upstream.settle(1_001)).toBe(limits.overloadRetryMs - 1);
    expect(asking.upstream.settle(1_000 + limits.overloadRetryMs)).toBeUndefined();
    expect(asking.port.calls.at(-1)).toBe("follow recover announce publish");
    asking.port.answer(following, history, { outcome: "announced" }, published(1));
    expect(asking.heard.slice(1)).toEqual([
      "follow following",
      "recover history",
      "publish 2 111",
      "announce announced",
      "history 111",
      "publish 3 published",
    ]);
  });

  it("[B4] leaves an overloaded object alone for longer each time, and then gives up", () => {
    const asking = new Asking();
    asking.ask("follow");
    const waits = asking.refuseAll();
    expect(waits).toEqual([500, 1_000, 2_000]);
    expect(asking.heard).toEqual(["follow 111"]);
    expect(asking.upstream.idle).toBe(true);
  });

  it("[O5] tells an overloaded object of a leave for longer, and lets nobody wait for that", () => {
    const asking = new Asking();
    asking.ask("announce", "publish 1");
    asking.port.refuse();
    expect(asking.heard).toEqual(["publish 1 111"]);
    const waits = asking.refuseAll();
    expect(waits).toHaveLength(limits.announceTriesMax - 1);
    expect(asking.heard.at(-1)).toBe("announce 111");
    expect(asking.emptied).toBe(1);
  });

  it("[B4] isn't made to wait for longer by a clock that was set back", () => {
    const asking = new Asking();
    asking.ask("follow");
    asking.port.refuse();
    expect(asking.upstream.settle(1_000_000)).toBe(500);
    expect(asking.upstream.settle(1_000)).toBe(500);
    expect(asking.upstream.settle(1_500)).toBeUndefined();
    expect(asking.port.open).toBe(1);
  });

  it("[O5] has room for joins and leaves where it has none for questions, and not without end", () => {
    const asking = new Asking();
    asking.ask("follow");
    for (let count = 0; count < limits.requestsWaitingMax; count++) asking.ask("history");
    for (let count = 0; count < 40_000; count++) asking.ask("announce");
    expect(asking.heard).toEqual([]);
    asking.ask("history");
    expect(asking.heard).toEqual(["history 111"]);
    while (asking.heard.length < 2) asking.ask("announce");
    expect(asking.heard).toEqual(["history 111", "announce 111"]);
  });

  it("[V1] answers 100 to a question that got no answer", () => {
    const asking = new Asking();
    asking.ask("follow", "newest");
    asking.port.answer(following);
    expect(asking.heard).toEqual(["follow following", "newest 100"]);
  });

  it("says when nothing is asked any more, and not while something is", () => {
    const asking = new Asking();
    expect(asking.upstream.idle).toBe(true);
    asking.ask("follow");
    asking.ask("newest");
    expect(asking.upstream.idle).toBe(false);
    asking.port.answer(following);
    expect(asking.emptied).toBe(0);
    asking.port.answer(history);
    expect(asking.emptied).toBe(1);
    expect(asking.upstream.idle).toBe(true);
  });
});

class Asking {
  readonly port = new ScriptedPort();
  readonly heard: string[] = [];
  emptied = 0;
  #nowMs = 1_000;
  onAnswer: ((label: string) => void) | undefined;
  readonly upstream = new ChannelClient("news", this.port, () => {
    this.emptied++;
  });

  /** Refuses every call, and says how long it was waited after each. */
  refuseAll(): readonly (number | undefined)[] {
    const waits = [];
    if (this.port.open === 0) waits.push(this.#wait());
    while (this.port.open > 0) {
      this.port.refuse();
      if (!this.upstream.idle) waits.push(this.#wait());
    }
    return waits;
  }

  #wait(): number | undefined {
    const waitMs = this.upstream.settle(this.#nowMs);
    this.#nowMs += waitMs ?? 0;
    this.upstream.settle(this.#nowMs);
    return waitMs;
  }

  ask(...labels: readonly string[]): void {
    this.upstream.ask(
      labels.map((label) => ({
        request: question(label),
        done: (answer) => {
          const { outcome } = answer;
          this.heard.push(`${label} ${outcome === "error" ? answer.error.code : outcome}`);
          this.onAnswer?.(label);
        },
      })),
    );
  }
}

function question(label: string): RelayRequest {
  const [method = "", data = ""] = label.split(" ");
  switch (method) {
    case "recover":
      return { method, since: { offset: 1, epoch: "e" } };
    case "publish":
      return { method, data: json(data), info: { user: "42", client: "c" } };
    case "history":
      return { method, query: { limit: 1, reverse: false }, bytesMax: 1_000 };
    case "announce":
      return { method, entries: [{ type: "leave", info: { user: `42${data}`, client: "c" } }] };
    case "newest":
    case "follow":
      return { method };
    default:
      throw new Error(`no such question: ${label}`);
  }
}

const following: RelayReply = { outcome: "following", instance: 1, sequence: 0 };
const history: RelayReply = {
  outcome: "history",
  publications: [],
  position: { offset: 0, epoch: "e" },
};

function published(sequence: number): RelayReply {
  return { outcome: "published", instance: 1, sequence };
}
