import { describe, expect, it } from "vitest";
import { BlindRules } from "./blind-rules.ts";
import { complaintsOf } from "./complaints.ts";
import { type AskedPiece, GrowthRules } from "./growth-rules.ts";
import { GrowthSubscription } from "./growth-subscription.ts";
import { beginningOf, numberOf, pieceUnits, textUpTo } from "./growth-text.ts";
import { World } from "./world.ts";

const channel = "long:l";
const key = "k1";

describe("the texts of producers", () => {
  it("say which they are, and have no half of a surrogate pair where a piece begins", () => {
    for (const number of [1, 9, 17]) {
      const beginning = beginningOf(key, number).length;
      expect(beginning % pieceUnits).toBe(number % pieceUnits);
      for (let blocks = 0; blocks < 12; blocks++) {
        const text = textUpTo(key, number, beginning + blocks * pieceUnits);
        expect([text.isWellFormed(), numberOf(key, text)]).toEqual([true, number]);
      }
    }
  });
});

describe("the rules of values that grow", () => {
  it("[Z38] complain about a text that is longer than what was sent, or another one", () => {
    const { rules, complaints } = rulesAt(lengthOf(1));
    rules.shows(channel, key, textUpTo(key, 1, lengthOf(1)), "c1");
    expect(complaints).toEqual([]);
    rules.shows(channel, key, textUpTo(key, 1, lengthOf(2)), "c1");
    rules.shows(channel, key, `${textUpTo(key, 1, lengthOf(0))}[0001]`, "c1");
    rules.answered(rules.known(channel, key), piece(0, lengthOf(1)), { length: lengthOf(2) });
    expect(complaints).toHaveLength(3);
  });

  it("[Z41] complain about what is gone, unless a crash within the window explains it", () => {
    const { rules, complaints, wait } = rulesAt(lengthOf(3));
    const answer = (end: number, length = end, reason?: string) =>
      rules.answered(rules.known(channel, key), piece(0, end), {
        length,
        ...(reason !== undefined && { suppress_reason: reason }),
      });
    answer(lengthOf(1));
    wait(10_000);
    answer(lengthOf(2));
    rules.crashed(channel);
    answer(lengthOf(3), lengthOf(1), "length_mismatch");
    expect(complaints).toEqual([]);
    answer(lengthOf(3), lengthOf(0), "length_mismatch");
    answer(lengthOf(2));
    answer(lengthOf(3), lengthOf(1), "length_mismatch");
    expect(complaints).toHaveLength(2);
  });

  it("[Z43] forget what was before a removal", () => {
    const { rules, complaints } = rulesAt(lengthOf(1));
    rules.answered(rules.known(channel, key), piece(0, lengthOf(1)), { length: lengthOf(1) });
    const known = rules.known(channel, key);
    rules.removes(channel, key);
    const data = new Uint8Array();
    rules.changed(channel, { key, data, offset: 2, removed: true }, 0);
    rules.answered(known, piece(lengthOf(1), lengthOf(2)), {
      length: 0,
      suppress_reason: "length_mismatch",
    });
    expect(complaints).toEqual([]);
  });
});

describe("the rules of pieces that name no length", () => {
  it("[Z38] complain about one that is there twice, in another place, or not there", () => {
    const complaints: string[] = [];
    const rules = new BlindRules((what) => complaints.push(what));
    const first = rules.sends(channel, false);
    const second = rules.sends(channel, true);
    rules.shows(channel, `${second.text}${first.text}`, "c1");
    expect(complaints).toEqual([]);
    rules.acknowledged(first, 100);
    const third = rules.sends(channel, false);
    rules.shows(channel, `${third.text}${first.text}`, "c1");
    rules.shows(channel, `${first.text}${first.text}`, "c1");
    rules.shows(channel, `${first.text}<9>`, "c1");
    expect(complaints).toHaveLength(3);
    rules.acknowledged(second, 100);
    rules.lost(channel, 50, false);
    rules.checkAcknowledged(channel, "");
    expect(complaints).toHaveLength(4);
  });
});

it("[Z39] a client that comes back within a window gets pieces again after it", () => {
  const world = new World({ channels: [channel], gateways: 1 });
  const client = world.client({ name: "c2" });
  client.subscribe(channel);
  client.connect();
  world.pass(100);
  const append = (pieces: number) => world.producers.append(channel, key, { pieces, blocks: 1 });
  const subscription = client.subscription(channel);
  if (!(subscription instanceof GrowthSubscription)) throw new Error("is of another channel");
  append(3);
  world.pass(200);
  expect(subscription.pieces).toBe(2);
  client.breakLine();
  world.pass(500);
  append(1);
  world.pass(500);
  expect(subscription.pieces).toBe(2);
  world.pass(5_000);
  append(3);
  world.pass(1_000);
  expect(subscription.pieces).toBeGreaterThan(2);
  expect(complaintsOf(world)).toEqual([]);
  world.end();
});

/** Rules for a text that was sent up to a length. */
function rulesAt(sent: number) {
  const complaints: string[] = [];
  let nowMs = 0;
  const rules = new GrowthRules(
    () => nowMs,
    (what) => complaints.push(what),
  );
  rules.sends(channel, key, 1, sent, true);
  const wait = (ms: number): void => {
    nowMs += ms;
  };
  return { rules, complaints, wait };
}

/** The length of the first text with so many blocks. */
function lengthOf(blocks: number): number {
  return beginningOf(key, 1).length + blocks * pieceUnits;
}

function piece(at: number, end: number): AskedPiece {
  const text = textUpTo(key, 1, end).slice(at);
  return { number: 1, at, text, final: false, idempotencyKey: "" };
}
