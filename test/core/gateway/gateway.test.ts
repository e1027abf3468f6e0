import { describe, expect, it } from "vitest";
import type { GatheredPresence } from "../../../src/channel/presence.ts";
import { limits } from "../../../src/limits.ts";
import { errorCodes } from "../../../src/protocol/codes.ts";
import type { RelayReply } from "../../../src/contract/relay-request.ts";
import { at, entry, following, publication, said } from "./followed-channel.ts";
import { batch, Scene } from "./gateway-fixture.ts";

describe("gateway", () => {
  it("[L6] follows each channel once, and passes on to its own subscribers only", () => {
    const scene = new Scene();
    const [news, more, sport] = [
      scene.listener("news"),
      scene.listener("news"),
      scene.listener("sport"),
    ];
    expect(scene.port.calls).toEqual(["follow", "follow"]);
    expect(scene.gateway.channelCount).toBe(2);
    scene.take("news", [said("1")]);
    scene.take("sport", [said("2")]);
    expect([news.heard, more.heard, sport.heard]).toEqual([["1"], ["1"], ["2"]]);
  });

  it("[L5] says that nobody wants a channel, and holds nothing of it", () => {
    const scene = new Scene();
    const listener = scene.listener("news");
    scene.gateway.unsubscribe(listener.subscription);
    expect(scene.gateway.channelCount).toBe(0);
    expect(scene.port.calls).toEqual(["follow"]);
    expect(scene.take("news", [said("1")])).toEqual({ outcome: "left" });
    expect(listener.heard).toEqual([]);
  });

  it("[L5] follows anew whom it had left", () => {
    const scene = new Scene();
    scene.gateway.unsubscribe(scene.listener("news").subscription);
    const listener = scene.listener("news");
    expect(scene.port.calls).toEqual(["follow", "follow"]);
    scene.take("news", [said("1")]);
    expect(listener.heard).toEqual(["1"]);
  });

  it("[G5] isn't confused by the answer for one who left and came again", () => {
    const scene = new Scene();
    const first = scene.join("news");
    scene.gateway.unsubscribe(first.subscription);
    const second = scene.join("news");
    scene.port.answer(following(undefined, 3));
    expect(second.answers).toEqual([]);
    scene.port.answer(following(undefined, 4));
    expect([first.answers.length, second.answers.length]).toEqual([0, 1]);
  });

  it("[O6] asks one channel one thing after the other, and doesn't let channels wait for each other", () => {
    const scene = new Scene();
    const told: string[] = [];
    scene.publish("news", undefined, (outcome) => told.push(`news ${outcome}`));
    scene.publish("sport", undefined, (outcome) => told.push(`sport ${outcome}`));
    scene.publish("news", undefined, (outcome) => told.push(`news again ${outcome}`));
    expect(scene.port.calls).toEqual(["publish", "publish"]);
    scene.port.fail();
    scene.port.answer(published(1));
    scene.port.answer(published(1));
    expect(told).toEqual(["news failed", "sport published", "news again published"]);
  });

  it("[O4] answers a publisher who subscribes once its publication is collected, and another one at once", () => {
    const scene = new Scene();
    const [listener, another] = [scene.listener("news"), scene.listener("sport")];
    const told: string[] = [];
    scene.publish("news", listener, (outcome) => {
      const collected = scene.gateway.awaitFlush(listener.subscription);
      told.push(`${outcome}, ${collected ? "collected" : "not collected"}`);
    });
    scene.publish("news", another, (outcome) => told.push(`${outcome} by another`));
    scene.publish("news", undefined, (outcome) => told.push(`${outcome} by nobody`));
    scene.port.answer(published(1));
    scene.port.answer(published(2), published(3));
    expect(told).toEqual(["published by another", "published by nobody"]);
    scene.take("news", [said("1")]);
    expect(told.slice(2)).toEqual(["published, collected"]);
    expect([listener.heard, listener.flushes]).toEqual([["1"], 1]);
  });

  it("[O4] lets a publisher wait for what is still collected", () => {
    const scene = new Scene();
    const crowd = Array.from({ length: 100 }, () => scene.listener("news"));
    const [first] = crowd;
    if (first === undefined) throw new Error("no crowd");
    scene.take("news", [said("1")]);
    expect(scene.gateway.awaitFlush(first.subscription)).toBe(false);
    scene.gateway.take(batch("news", [said("2")], 2), scene.nowMs);
    expect(scene.gateway.awaitFlush(first.subscription)).toBe(true);
    expect(scene.settle()).toBe(2.5);
    expect(first.heard).toEqual(["1"]);
    scene.nowMs += 6;
    expect(scene.settle()).toBeUndefined();
    expect([first.heard, first.flushes]).toEqual([["1", "2"], 1]);
  });

  it("[B4] answers a publisher who waits too long, and says when", () => {
    const scene = new Scene();
    const listener = scene.listener("news");
    let outcome = "none";
    scene.publish("news", listener, (answered) => (outcome = answered));
    scene.port.answer(published(1));
    expect([outcome, scene.settle()]).toEqual(["none", limits.objectAnswerMs]);
    scene.nowMs += limits.objectAnswerMs;
    expect([scene.settle(), outcome]).toEqual([undefined, "published"]);
  });

  it("[O5] tells of a subscriber after it came, and of its leaving once", () => {
    const scene = new Scene();
    const listener = scene.listener("news", { announced: true });
    scene.gateway.announce(listener.subscription);
    const { info } = listener.subscription;
    expect(scene.port.questions).toEqual([
      { method: "announce", entries: [{ type: "join", info }] },
    ]);
    scene.port.answer({ outcome: "announced" });
    scene.gateway.unsubscribe(listener.subscription);
    scene.gateway.unsubscribe(listener.subscription);
    expect(scene.port.questions).toEqual([
      { method: "announce", entries: [{ type: "leave", info }] },
    ]);
    scene.port.answer({ outcome: "announced" });
    expect(scene.port.open).toBe(0);
  });

  it("[O5] tells nothing of those who aren't announced, or never came", () => {
    const scene = new Scene();
    const quiet = scene.listener("news");
    scene.gateway.announce(quiet.subscription);
    scene.gateway.unsubscribe(quiet.subscription);
    const never = scene.join("sport", { announced: true });
    scene.gateway.unsubscribe(never.subscription);
    expect(scene.port.calls).toEqual(["follow", "follow"]);
  });

  it("[O5] tells of the leaving of those who slept, or were told that they lost the stream", () => {
    const scene = new Scene();
    const slept = scene.listener("news", { announced: true }, at(5));
    scene.sleep(slept);
    slept.onLost = () => scene.gateway.unsubscribe(slept.subscription);
    scene.take("news", [entry(1)], at(1, "f"), 2);
    expect(slept.heard).toEqual(["lost"]);
    expect(scene.port.questions).toMatchObject([{ entries: [{ type: "leave" }] }]);
  });

  it("[C10] tells that a subscriber wants to be its user's only one", () => {
    const scene = new Scene();
    const listener = scene.listener("news", { sole: true, announced: true });
    scene.gateway.announce(listener.subscription);
    const { info } = listener.subscription;
    const { user, client } = info;
    expect(scene.port.questions).toEqual([
      {
        method: "announce",
        entries: [
          { type: "join", info },
          { type: "sole", user, client },
        ],
      },
    ]);
  });

  it("[C6] knows no channel but its own when a full channel's object spills to it", () => {
    const scene = new Scene("news");
    expect(scene.gateway.find("news").outcome).toBe("resolved");
    expect(scene.gateway.find("sport")).toEqual({ outcome: "unknown-namespace" });
    expect(scene.gateway.find("").outcome).toBe("bad-name");
    expect(scene.gateway.find("é").outcome).toBe("bad-name");
    expect(new Scene().gateway.find("sport").outcome).toBe("resolved");
    expect(new Scene().gateway.find("").outcome).toBe("bad-name");
  });

  it("reads the history for a client, or says why it can't", () => {
    const scene = new Scene();
    const answers: unknown[] = [];
    const query = { limit: 10, reverse: false };
    const ask = (): void => {
      scene.gateway.history("news", query, 1_000, scene.nowMs, (answer) => answers.push(answer));
    };
    ask();
    expect(scene.port.questions).toEqual([{ method: "history", query, bytesMax: 1_000 }]);
    const history = {
      outcome: "history",
      publications: [publication(1)],
      position: at(1),
    } as const;
    scene.port.answer(history);
    ask();
    scene.port.answer({ outcome: "error", error: errorCodes.notAvailable });
    expect(answers).toEqual([history, { outcome: "failed", error: errorCodes.notAvailable }]);
  });

  it("[G6] says who is present, and whether somebody may be missing", () => {
    const scene = new Scene();
    const answers: unknown[] = [];
    const clients = [
      { user: "42", client: "a" },
      { user: "42", client: "b" },
    ];
    scene.gathered = { clients, complete: false };
    scene.gateway.presence("news", (answer) => answers.push(answer));
    scene.gathered = { clients, complete: true };
    scene.gateway.presenceStats("news", (answer) => answers.push(answer));
    scene.gathered = { error: errorCodes.internal };
    scene.gateway.presence("news", (answer) => answers.push(answer));
    scene.gateway.presenceStats("news", (answer) => answers.push(answer));
    const failed = { outcome: "failed", error: errorCodes.internal };
    expect(answers).toEqual([
      { outcome: "presence", result: { clients, incomplete: true } },
      { outcome: "presence-stats", result: { clientCount: 2, userCount: 1 } },
      failed,
      failed,
    ]);
  });

  it("[G6] asks a channel one time after the other, and answers together who asked meanwhile", () => {
    const scene = new Scene();
    const asked: ((answer: GatheredPresence) => void)[] = [];
    scene.onPresence = (_, answered) => asked.push(answered);
    const told: string[] = [];
    const ask = (channel: string, who: string): void => {
      scene.gateway.presence(channel, ({ outcome }) => told.push(`${who} ${outcome}`));
    };
    ask("news", "first");
    ask("news", "second");
    ask("sport", "another");
    scene.gateway.presenceStats("news", ({ outcome }) => told.push(`third ${outcome}`));
    expect(asked).toHaveLength(2);
    const nobody = { clients: [], complete: true };
    asked[0]?.(nobody);
    expect([told, asked.length]).toEqual([["first presence"], 3]);
    asked[2]?.(nobody);
    expect(told.slice(1)).toEqual(["second presence", "third presence-stats"]);
    ask("news", "last");
    expect(asked).toHaveLength(4);
  });

  it("[B1] answers 111 to who asks for presence while as many wait as may", () => {
    const scene = new Scene();
    scene.onPresence = () => undefined;
    const answers: unknown[] = [];
    const ask = (): void => scene.gateway.presence("news", (answer) => answers.push(answer));
    for (let count = 0; count <= limits.presenceWaitingMax; count++) ask();
    expect(answers).toEqual([]);
    ask();
    expect(answers).toEqual([{ outcome: "failed", error: errorCodes.tooManyRequests }]);
  });

  it("[O5] tells an overloaded channel of a leave later, and says when", () => {
    const scene = new Scene();
    const listener = scene.listener("news", { announced: true });
    scene.gateway.announce(listener.subscription);
    scene.port.answer({ outcome: "announced" });
    scene.gateway.unsubscribe(listener.subscription);
    scene.port.refuse();
    expect(scene.settle()).toBe(limits.overloadRetryMs);
    scene.nowMs += limits.overloadRetryMs;
    expect(scene.settle()).toBeUndefined();
    expect(scene.port.questions).toMatchObject([{ entries: [{ type: "leave" }] }]);
    scene.port.refuse();
    expect(scene.settle()).toBe(2 * limits.overloadRetryMs);
  });

  it("[P1] says who of its own clients is present", () => {
    const scene = new Scene();
    const listener = scene.listener("news");
    scene.listener("news", { present: false });
    scene.join("sport");
    expect(scene.gateway.present("news")).toEqual({ clients: [listener.subscription.info] });
    expect(scene.gateway.present("sport")).toEqual({ clients: [] });
    expect(scene.gateway.present("nothing")).toEqual({ clients: [] });
  });
});

function published(sequence: number): RelayReply {
  return { outcome: "published", instance: 1, sequence };
}
