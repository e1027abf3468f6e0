import { describe, expect, it } from "vitest";
import { Outbox } from "../../../src/session/outbox.ts";

/** An outbox to a client that records its frames and has a given backlog. */
function outbox(behindMaxBytes = 100): {
  box: Outbox;
  sent: string[];
  client: { backlog: number };
} {
  const sent: string[] = [];
  const client = { backlog: 0 };
  const connection = {
    send: (frame: string) => void sent.push(frame),
    close: () => undefined,
    save: () => undefined,
    backlogBytes: () => client.backlog,
    lastHeardMs: () => undefined,
  };
  return { box: new Outbox(connection, behindMaxBytes), sent, client };
}

describe("an outbox", () => {
  it("[O4] sends a message at once that waits for nothing", () => {
    const { box, sent } = outbox();
    box.send("1");
    box.send("2");
    expect(sent).toStrictEqual(["1", "2"]);
    expect(box.behind).toBe(false);
  });

  it("[O4] holds a reply until its channel's publications are sent, and later messages with it", () => {
    const { box, sent } = outbox();
    box.send("1", "a");
    box.send("2");
    expect(sent).toStrictEqual([]);
    box.flushed("b");
    expect(sent).toStrictEqual([]);
    box.flushed("a");
    expect(sent).toStrictEqual(["1", "2"]);
    box.send("3");
    expect(sent).toStrictEqual(["1", "2", "3"]);
  });

  it("[O6] keeps the order when replies wait for several channels", () => {
    const { box, sent } = outbox();
    box.send("1", "a");
    box.send("2", "b");
    box.send("3", "a");
    box.send("4");
    box.flushed("b");
    expect(sent).toStrictEqual([]);
    box.flushed("a");
    expect(sent).toStrictEqual(["1", "2", "3", "4"]);
  });

  it("[O4] then waits for the next channel", () => {
    const { box, sent } = outbox();
    box.send("1", "a");
    box.send("2", "b");
    box.send("3");
    box.flushed("a");
    expect(sent).toStrictEqual(["1"]);
    box.flushed("b");
    expect(sent).toStrictEqual(["1", "2", "3"]);
  });

  it("[O3] reports that a message was sent before any later one is", () => {
    const { box, sent } = outbox();
    box.send("1", undefined, () => void sent.push("told of 1"));
    box.send("2", "a");
    box.send("3", undefined, () => void sent.push("told of 3"));
    box.send("4");
    expect(sent).toStrictEqual(["1", "told of 1"]);
    box.flushed("a");
    expect(sent).toStrictEqual(["1", "told of 1", "2", "3", "told of 3", "4"]);
  });

  it("[F4] counts the waiting messages and the client's backlog", () => {
    const { box, client } = outbox(100);
    expect(box.behind).toBe(false);
    expect([box.wouldExceed(100), box.wouldExceed(101)]).toStrictEqual([false, true]);
    box.send("x".repeat(60), "a");
    expect(box.behind).toBe(true);
    client.backlog = 30;
    expect([box.wouldExceed(10), box.wouldExceed(11)]).toStrictEqual([false, true]);
    box.flushed("a");
    expect([box.wouldExceed(70), box.wouldExceed(71)]).toStrictEqual([false, true]);
    expect(box.behind).toBe(true);
    client.backlog = 0;
    expect(box.behind).toBe(false);
  });

  it("[S4] sends no waiting message once it was cleared", () => {
    const { box, sent } = outbox();
    box.send("1", "a");
    box.clear();
    box.flushed("a");
    expect(sent).toStrictEqual([]);
    expect(box.behind).toBe(false);
  });
});
