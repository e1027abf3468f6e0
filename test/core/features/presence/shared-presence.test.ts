import { describe, expect, it } from "vitest";
import type { PresenceAnswer } from "../../../../src/protocol/reply.ts";
import { limits } from "../../../../src/limits.ts";
import { errorCodes } from "../../../../src/protocol/codes.ts";
import { jsonCodec } from "../../../../src/protocol/json/codec.ts";
import { messagePackCodec } from "../../../../src/protocol/messagepack/codec.ts";
import { protobufCodec } from "../../../../src/protocol/protobuf/codec.ts";
import { HeldPresence, members } from "./held-presence.ts";

const slice = limits.presenceSliceClients;

describe("questions at the same time", () => {
  it("[P3] get the same list, which is made in the next turn", () => {
    const held = new HeldPresence();
    const [alice, bob] = members(2);
    if (alice === undefined || bob === undefined) throw new Error("nobody is there");
    held.subscribers = [alice];
    const answers = [held.ask(jsonCodec), held.ask(), held.call()];
    held.subscribers = [alice, bob];
    answers.push(held.ask(protobufCodec));
    expect([answers.flat(), held.waiting, held.censuses]).toEqual([[], 1, 0]);
    held.turn();
    const all = answers.flat();
    expect(all).toHaveLength(4);
    // It is the same object for all of them.
    expect(new Set(all).size).toBe(1);
    expect(clientsOf(all[0])).toEqual([alice.info.client, bob.info.client]);
    expect([held.censuses, held.waiting, held.presence.idle]).toEqual([1, 0, true]);
  });

  it("[P4] that come while gateways are asked get an answer that isn't older than they are", () => {
    const held = new HeldPresence();
    held.gathered = undefined;
    const early = held.ask();
    held.turn();
    const late = [held.ask(), held.ask()];
    held.gathering[0]?.({ clients: [{ user: "u", client: "left" }], complete: true });
    expect([early.map(clientsOf), late.flat()]).toEqual([[["left"]], []]);
    held.turn();
    held.gathering[1]?.({ clients: [], complete: true });
    expect(late.flat().map(clientsOf)).toEqual([[], []]);
    expect(held.gathering).toHaveLength(2);
    expect(held.presence.idle).toBe(true);
  });

  it("[P4] [G6] don't wait for a gateway twice as long: after a while they are gathered for themselves", () => {
    const held = new HeldPresence();
    held.gathered = undefined;
    held.ask();
    held.turn();
    expect(held.timers).toEqual([]);
    const late = [held.ask(), held.ask()];
    expect([held.waiting, held.timers.map(({ waitMs }) => waitMs)]).toEqual([
      0,
      [limits.presenceOvertakeMs],
    ]);
    held.timers.shift()?.work();
    held.turn();
    expect(held.gathering).toHaveLength(2);
    held.gathering[1]?.({ clients: [], complete: false });
    expect(late.flat()).toMatchObject([{ result: { incomplete: true } }, {}]);
    expect(held.presence.idle).toBe(false);
    held.gathering[0]?.({ clients: [], complete: false });
    expect(held.presence.idle).toBe(true);
  });

  it("[P4] overtake no census that lists or answers, which goes on with the next one", () => {
    const held = new HeldPresence();
    held.subscribers = members(slice + 1);
    held.ask();
    held.turn();
    const late = held.ask();
    held.timers.shift()?.work();
    expect([held.waiting, held.censuses]).toEqual([1, 1]);
    held.turnAll();
    expect([late.length, held.censuses, held.presence.idle]).toEqual([1, 2, true]);
  });

  it("[P3] get the error if nobody could be asked, and the next ones ask again", () => {
    const held = new HeldPresence();
    held.gathered = { error: errorCodes.internal };
    const failed = held.ask();
    held.turn();
    expect(failed).toEqual([{ outcome: "failed", error: errorCodes.internal }]);
    held.gathered = { clients: [], complete: true };
    const answered = held.ask();
    held.turn();
    expect(answered.map(clientsOf)).toEqual([[]]);
  });
});

describe("thousands of clients", () => {
  it("[P3] [P5] are listed and encoded in slices, as they were at one moment", () => {
    const held = new HeldPresence();
    const all = members(slice * 2 + 1);
    held.subscribers = all;
    const reads = countReads(held);
    const answer = held.ask(jsonCodec);
    const expected = all.map(({ info }) => info.client);
    for (const sliceSize of [slice, slice, 1]) {
      expect(answer).toEqual([]);
      const before = reads.connInfo;
      held.turn();
      // Each is encoded once, in the turn in which it is listed.
      expect(reads.connInfo - before).toBe(sliceSize);
      held.subscribers = [];
    }
    expect(answer.map(clientsOf)).toEqual([expected]);
    expect(answer).toMatchObject([{ stats: { clientCount: all.length, userCount: all.length } }]);
    expect(held.censuses).toBe(1);
  });

  it("[P5] are encoded once for each codec that is asked for, whatever the number of replies", () => {
    const held = new HeldPresence();
    held.subscribers = members(slice + 1);
    const reads = countReads(held);
    const codecs = [jsonCodec, protobufCodec, messagePackCodec];
    const replies: number[] = [];
    for (const codec of codecs) {
      for (let id = 1; id <= 5; id++) {
        held.presence.ask({
          client: {},
          codec,
          done: (answer) => {
            if (answer.outcome === "failed") throw new Error("refused");
            const { result } = answer;
            replies.push(codec.encodeReply({ id, method: "presence", result }).length);
          },
        });
      }
    }
    held.turnAll();
    expect(replies).toHaveLength(15);
    expect(reads.connInfo).toBe(codecs.length * (slice + 1));
  });

  it("[P5] are counted without being encoded", () => {
    const held = new HeldPresence();
    held.subscribers = members(slice + 1);
    const reads = countReads(held);
    const answer = held.ask();
    held.turnAll();
    expect(answer).toMatchObject([{ stats: { clientCount: slice + 1 } }]);
    expect(reads.connInfo).toBe(0);
  });
});

describe("many who ask", () => {
  it("[P5] are answered in slices of as many as a frame is sent to", () => {
    const held = new HeldPresence();
    const answers = Array.from({ length: 60 }, () => held.ask());
    const answered: number[] = [];
    while (held.waiting > 0) {
      held.turn();
      answered.push(answers.flat().length);
    }
    const slices = Math.ceil(60 / limits.sliceSubscribersMax);
    const ends = Array.from(
      { length: slices },
      (_, place) => (place + 1) * limits.sliceSubscribersMax,
    );
    expect(answered).toEqual(ends.map((end) => Math.min(end, 60)));
    expect(held.censuses).toBe(1);
  });

  it("[P5] are answered in slices of bytes", () => {
    const held = new HeldPresence();
    const [big] = members(1);
    if (big === undefined) throw new Error("nobody is there");
    Object.assign(big, { info: { client: "c", user: "u".repeat(limits.sliceBytesMax / 2) } });
    held.subscribers = [big];
    const counted = Array.from({ length: 3 }, () => held.ask());
    const answers = Array.from({ length: 5 }, () => held.ask(jsonCodec));
    held.turn();
    expect([counted.flat().length, answers.flat().length]).toEqual([3, 2]);
    held.turn();
    expect(answers.flat().length).toBe(4);
    held.turn();
    expect(answers.flat().length).toBe(5);
  });

  it("[P4] begin the next census when all are answered, and calls are answered first", () => {
    const held = new HeldPresence();
    const size = limits.sliceSubscribersMax + 5;
    const first = Array.from({ length: size }, () => held.ask());
    held.turn();
    const second = Array.from({ length: size }, () => held.ask());
    const call = held.call();
    held.turn();
    expect([first.flat().length, second.flat().length, held.censuses]).toEqual([size, 0, 1]);
    held.turn();
    expect([call.length, second.flat().length, held.censuses]).toEqual([1, size - 6, 2]);
    held.turnAll();
    expect(second.flat()).toHaveLength(size);
  });

  it("[P3] are answered although one of them throws", () => {
    const held = new HeldPresence();
    held.presence.ask({
      client: {},
      codec: undefined,
      done: () => {
        throw new Error("a bug");
      },
    });
    const other = held.ask();
    expect(() => held.turn()).toThrow("a bug");
    held.turnAll();
    expect([other.length, held.presence.idle]).toEqual([1, true]);
  });
});

describe("too many questions", () => {
  const refused = { outcome: "failed", error: errorCodes.tooManyRequests };

  it("[B1] [P6] are answered 111 at once, of clients and of calls apart", () => {
    const held = new HeldPresence();
    const clients = Array.from({ length: limits.presenceWaitingMax }, () => held.ask());
    expect(clients.flat()).toEqual([]);
    expect(held.ask()).toEqual([refused]);
    const calls = Array.from({ length: limits.presenceWaitingMax }, () => held.call());
    expect(calls.flat()).toEqual([]);
    expect(held.call()).toEqual([refused]);
    held.turnAll();
    expect(calls.flat()).toHaveLength(limits.presenceWaitingMax);
    expect(held.ask()).toEqual([]);
  });

  it("[B1] [P3] [P6] of one client make no other be refused: 12,000 in 10 frames are one list", () => {
    const held = new HeldPresence();
    held.subscribers = members(3);
    const reads = countReads(held);
    const hostile = {};
    const answers: (readonly PresenceAnswer[])[] = [];
    for (let count = 0; count < 12_000; count++) answers.push(held.ask(jsonCodec, hostile));
    const other = held.ask(jsonCodec);
    const refusals = answers.flat();
    expect(refusals).toHaveLength(12_000 - limits.presenceWaitingPerClientMax);
    expect(new Set(refusals.map((answer) => JSON.stringify(answer)))).toEqual(
      new Set([JSON.stringify(refused)]),
    );
    held.turnAll();
    expect([other.length, held.censuses, reads.connInfo]).toEqual([1, 1, 3]);
  });
});

function clientsOf(answer: PresenceAnswer | undefined): readonly string[] {
  if (answer?.outcome !== "present") throw new Error("no list");
  return answer.result.parts.flat().map(({ client }) => client);
}

/** Counts how often a client's info is encoded: encoding is all that reads a connection's own part of it. */
function countReads(held: HeldPresence): { readonly connInfo: number } {
  const reads = { connInfo: 0 };
  for (const subscriber of held.subscribers) {
    Object.defineProperty(subscriber.info, "connInfo", {
      get: () => {
        reads.connInfo++;
        return undefined;
      },
    });
  }
  return reads;
}
