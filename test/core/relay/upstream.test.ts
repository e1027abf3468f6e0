import { describe, expect, it } from "vitest";
import { limits } from "../../../src/limits.ts";
import type { Answer, Question } from "../../../src/relay/question.ts";
import { Upstream } from "../../../src/relay/upstream.ts";
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
    for (let count = 0; count < limits.questionsWaitingMax; count++) asking.ask("history");
    asking.ask("publish 1");
    expect(asking.heard).toEqual(["publish 1 111"]);
  });

  it("[B1] answers 111 at once when the waiting questions hold as many bytes as they may", () => {
    const asking = new Asking();
    asking.ask("follow");
    const large = `publish "${"x".repeat(limits.questionsWaitingBytesMax / 8)}"`;
    for (let count = 0; count < 8; count++) asking.ask(large);
    expect(asking.heard).toEqual([`${large} 111`]);
    asking.port.answer(following);
    asking.ask(large);
    expect(asking.heard).toEqual([`${large} 111`, "follow following"]);
  });

  it("[B1] asks no more in one call than may be, and a larger question alone", () => {
    const asking = new Asking();
    asking.ask("follow");
    for (let count = 0; count <= limits.questionsPerCallMax; count++) asking.ask("newest");
    asking.ask(`publish "${"x".repeat(limits.questionsPerCallBytesMax)}"`, "history");
    asking.port.answer(following);
    expect(asking.port.questions).toHaveLength(limits.questionsPerCallMax);
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

  it("[B4] answers 111 to everything in a call that an overloaded object refused", () => {
    const asking = new Asking();
    asking.ask("follow", "publish 1", "announce");
    asking.port.refuse();
    expect(asking.heard).toEqual(["follow 111", "publish 1 111", "announce 111"]);
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
  onAnswer: ((label: string) => void) | undefined;
  readonly upstream = new Upstream("news", this.port, () => {
    this.emptied++;
  });

  ask(...labels: readonly string[]): void {
    this.upstream.ask(
      labels.map((label) => ({
        question: question(label),
        answered: (answer) => {
          const { outcome } = answer;
          this.heard.push(`${label} ${outcome === "error" ? answer.error.code : outcome}`);
          this.onAnswer?.(label);
        },
      })),
    );
  }
}

function question(label: string): Question {
  const [method = "", data = ""] = label.split(" ");
  switch (method) {
    case "recover":
      return { method, since: { offset: 1, epoch: "e" } };
    case "publish":
      return { method, data: json(data), info: { user: "42", client: "c" } };
    case "history":
      return { method, query: { limit: 1, reverse: false }, bytesMax: 1_000 };
    case "announce":
      return { method, entries: [{ type: "leave", info: { user: "42", client: "c" } }] };
    case "newest":
    case "follow":
      return { method };
    default:
      throw new Error(`no such question: ${label}`);
  }
}

const following: Answer = { outcome: "following", instance: 1, sequence: 0 };
const history: Answer = {
  outcome: "history",
  publications: [],
  position: { offset: 0, epoch: "e" },
};

function published(sequence: number): Answer {
  return { outcome: "published", instance: 1, sequence };
}
