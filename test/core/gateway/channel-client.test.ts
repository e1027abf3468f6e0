import { plainPublication } from "../../../src/channel/publication-request.ts";
import { describe, expect, it } from "vitest";
import { limits } from "../../../src/limits.ts";
import type { RelayReply, RelayRequest } from "../../../src/contract/relay-request.ts";
import { ChannelClient } from "../../../src/gateway/channel-client.ts";
import { json } from "../api/channel-config.ts";
import { ScriptedPort } from "./support/scripted-port.ts";

describe("a channel client", () => {
  it("[O6] sends the requests that come during a call in the next one, and answers in order", () => {
    const fixture = new ClientFixture();
    fixture.ask("follow");
    fixture.ask("publish 1", "history", "publish 2");
    expect(fixture.port.calls).toEqual(["follow"]);
    fixture.port.answer(following);
    expect(fixture.port.calls).toEqual(["follow", "publish history publish"]);
    fixture.port.answer(published(1), history, published(2));
    expect(fixture.outcomes).toEqual([
      "follow following",
      "publish 1 published",
      "history history",
      "publish 2 published",
    ]);
  });

  it("[B1] answers 111 at once when the number of waiting requests is at its limit", () => {
    const fixture = new ClientFixture();
    fixture.ask("follow");
    for (let count = 0; count < limits.requestsWaitingMax; count++) fixture.ask("history");
    fixture.ask("publish 1");
    expect(fixture.outcomes).toEqual(["publish 1 111"]);
  });

  it("[B1] answers 111 at once when the bytes of waiting requests are at their limit", () => {
    const fixture = new ClientFixture();
    fixture.ask("follow");
    const large = `publish "${"x".repeat(limits.requestsWaitingBytesMax / 8)}"`;
    for (let count = 0; count < 8; count++) fixture.ask(large);
    expect(fixture.outcomes).toEqual([`${large} 111`]);
    fixture.port.answer(following);
    fixture.ask(large);
    expect(fixture.outcomes).toEqual([`${large} 111`, "follow following"]);
  });

  it("[B1] asks no more in one call than may be, and a larger question alone", () => {
    const fixture = new ClientFixture();
    fixture.ask("follow");
    for (let count = 0; count <= limits.requestsPerCallMax; count++) fixture.ask("newest");
    fixture.ask(`publish "${"x".repeat(limits.requestsPerCallBytesMax)}"`, "history");
    fixture.port.answer(following);
    expect(fixture.port.requests).toHaveLength(limits.requestsPerCallMax);
    fixture.port.answer();
    expect(fixture.port.calls.at(-1)).toBe("newest");
    fixture.port.answer();
    expect(fixture.port.calls.at(-1)).toBe("publish");
    fixture.port.answer();
    expect(fixture.port.calls.at(-1)).toBe("history");
  });

  it("[L1] repeats harmless requests once after a failed call, and never a publish", () => {
    const fixture = new ClientFixture();
    fixture.ask("follow", "recover", "publish 1", "newest", "history");
    fixture.ask("publish 2");
    fixture.port.fail();
    expect(fixture.port.calls.at(-1)).toBe("follow recover newest history publish");
    fixture.port.fail();
    expect(fixture.port.calls).toHaveLength(2);
    expect(fixture.outcomes).toEqual([
      "follow 100",
      "recover 100",
      "publish 1 100",
      "newest 100",
      "history 100",
      "publish 2 100",
    ]);
  });

  it("[O5] repeats a leave twice before it is given up", () => {
    const fixture = new ClientFixture();
    fixture.ask("announce");
    fixture.port.fail();
    fixture.port.fail();
    expect(fixture.port.calls).toEqual(["announce", "announce", "announce"]);
    fixture.port.fail();
    expect(fixture.outcomes).toEqual(["announce 100"]);
    expect(fixture.port.open).toBe(0);
  });

  it("[B4] repeats a request to an overloaded object later, if no client would", () => {
    const fixture = new ClientFixture();
    fixture.ask("publish 1", "follow", "recover", "publish 2", "announce", "history");
    fixture.port.refuse();
    expect(fixture.outcomes).toEqual(["publish 1 111"]);
    fixture.ask("publish 3");
    expect(fixture.port.open).toBe(0);
    expect(fixture.client.settle(1_000)).toBe(limits.overloadRetryMs);
    expect(fixture.client.settle(1_001)).toBe(limits.overloadRetryMs - 1);
    expect(fixture.client.settle(1_000 + limits.overloadRetryMs)).toBeUndefined();
    expect(fixture.port.calls.at(-1)).toBe("follow recover announce publish");
    fixture.port.answer(following, history, { outcome: "announced" }, published(1));
    expect(fixture.outcomes.slice(1)).toEqual([
      "follow following",
      "recover history",
      "publish 2 111",
      "announce announced",
      "history 111",
      "publish 3 published",
    ]);
  });

  it("[B4] leaves an overloaded object alone for longer each time, and then gives up", () => {
    const fixture = new ClientFixture();
    fixture.ask("follow");
    const waits = fixture.refuseAll();
    expect(waits).toEqual([500, 1_000, 2_000]);
    expect(waits).toHaveLength(limits.overloadTriesMax - 1);
    expect(fixture.outcomes).toEqual(["follow 111"]);
    expect(fixture.client.idle).toBe(true);
  });

  it("[O5] repeats a leave to an overloaded object for longer, without delaying other requests", () => {
    const fixture = new ClientFixture();
    fixture.ask("announce", "publish 1");
    fixture.port.refuse();
    expect(fixture.outcomes).toEqual(["publish 1 111"]);
    const waits = fixture.refuseAll();
    expect(waits).toHaveLength(limits.announceTriesMax - 1);
    expect(fixture.outcomes.at(-1)).toBe("announce 111");
    expect(fixture.emptied).toBe(1);
  });

  it("[O5] has space for joins and leaves after it has none for requests, up to a limit", () => {
    const fixture = new ClientFixture();
    fixture.ask("follow");
    for (let count = 0; count < limits.requestsWaitingMax; count++) fixture.ask("history");
    for (let count = 0; count < 40_000; count++) fixture.ask("announce");
    expect(fixture.outcomes).toEqual([]);
    fixture.ask("history");
    expect(fixture.outcomes).toEqual(["history 111"]);
    for (let count = 0; count < 40_000 && fixture.outcomes.length < 2; count++)
      fixture.ask("announce");
    expect(fixture.outcomes).toEqual(["history 111", "announce 111"]);
  });

  it("[O5] [B1] drops joins and leaves whose bytes are beyond their limit", () => {
    const fixture = new ClientFixture();
    fixture.ask("follow");
    const large = `announce ${"x".repeat(limits.announcesWaitingBytesMax / 8)}`;
    for (let count = 0; count < 7; count++) fixture.ask(large);
    expect(fixture.outcomes).toEqual([]);
    fixture.ask(large);
    expect(fixture.outcomes).toEqual([`${large} 111`]);
  });

  it("[V1] answers 100 to a question that got no answer", () => {
    const fixture = new ClientFixture();
    fixture.ask("follow", "newest");
    fixture.port.answer(following);
    expect(fixture.outcomes).toEqual(["follow following", "newest 100"]);
  });

  it("is idle exactly when no request is waiting or in flight", () => {
    const fixture = new ClientFixture();
    expect(fixture.client.idle).toBe(true);
    fixture.ask("follow");
    fixture.ask("newest");
    expect(fixture.client.idle).toBe(false);
    fixture.port.answer(following);
    expect(fixture.emptied).toBe(0);
    fixture.port.answer(history);
    expect(fixture.emptied).toBe(1);
    expect(fixture.client.idle).toBe(true);
  });
});

class ClientFixture {
  readonly port = new ScriptedPort();
  readonly outcomes: string[] = [];
  emptied = 0;
  #nowMs = 1_000;
  onAnswer: ((label: string) => void) | undefined;
  readonly client = new ChannelClient("news", this.port, () => {
    this.emptied++;
  });

  /** Refuses every call, and gives the wait after each. */
  refuseAll(): readonly (number | undefined)[] {
    const waits = [];
    if (this.port.open === 0) waits.push(this.#wait());
    while (this.port.open > 0) {
      this.port.refuse();
      if (!this.client.idle) waits.push(this.#wait());
    }
    return waits;
  }

  #wait(): number | undefined {
    const waitMs = this.client.settle(this.#nowMs);
    this.#nowMs += waitMs ?? 0;
    this.client.settle(this.#nowMs);
    return waitMs;
  }

  ask(...labels: readonly string[]): void {
    this.client.ask(
      labels.map((label) => ({
        request: request(label),
        done: (answer) => {
          const { outcome } = answer;
          this.outcomes.push(`${label} ${outcome === "failed" ? answer.error.code : outcome}`);
          this.onAnswer?.(label);
        },
      })),
    );
  }
}

function request(label: string): RelayRequest {
  const [method = "", data = ""] = label.split(" ");
  switch (method) {
    case "recover":
      return { method, since: { offset: 1, epoch: "e" } };
    case "publish":
      return { method, request: plainPublication(json(data)), info: { user: "42", client: "c" } };
    case "history":
      return { method, request: { limit: 1, reverse: false }, bytesMax: 1_000 };
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
