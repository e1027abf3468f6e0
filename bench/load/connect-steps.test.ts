import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { centrifugoSteps } from "../systems/centrifugo-requests.ts";
import { ConnectSteps } from "./connect-steps.ts";
import { streamPosition } from "./stream-position.ts";

describe("the steps of a connect", () => {
  const steps = [
    { send: "first", answer: '"id":1' },
    { send: "at once", answer: "" },
    { send: "last", answer: '"id":2' },
  ];

  it("sends each step when the one before is answered, however the answers are split", () => {
    const text = 'hello {"id":1} {"id":1,"push":{}} {"id":2}';
    fc.assert(
      fc.property(fc.nat({ max: text.length }), fc.nat({ max: text.length }), (one, other) => {
        const [from, to] = [Math.min(one, other), Math.max(one, other)];
        const progress = new ConnectSteps({ path: "/", steps });
        const frames = ["", text.slice(0, from), text.slice(from, to), text.slice(to)];
        const sent = frames.flatMap((frame) => progress.take(frame));
        expect(sent).toEqual(["first", "at once", "last"]);
        expect(progress.done).toBe(true);
      }),
    );
  });

  it("doesn't use the answer of one step for the next", () => {
    const progress = new ConnectSteps({
      path: "/",
      steps: [steps[0], steps[0]].flatMap((step) => step ?? []),
    });
    expect(progress.take("")).toEqual(["first"]);
    expect(progress.take('{"id":1}')).toEqual(["first"]);
    expect(progress.done).toBe(false);
    expect(progress.take('{"id":1}')).toEqual([]);
    expect(progress.done).toBe(true);
  });

  it("reads a map page by page, from where each page says, until the subscription begins", () => {
    const caller = { channel: "kept:a", token: "", pageSize: 2 };
    const progress = new ConnectSteps({ path: "/", steps: centrifugoSteps(caller) });
    const request = { channel: "kept:a", type: 1, phase: 2, limit: 2 };
    const entries = '"state":[{"key":"^\\"cursor\\":\\"x\\""}]';
    const page = (head: string): string => `{"id":2,"subscribe":{${head}"type":1,${entries}}}`;
    const sent = (text: string): object[] => progress.take(text).map((frame) => JSON.parse(frame));
    expect(sent("")).toEqual([{ id: 1, connect: {} }]);
    expect(sent('{"id":1,"connect":{}}')).toEqual([{ id: 2, subscribe: request }]);
    const first = page('"epoch":"e","offset":7,"phase":2,"cursor":"k",');
    const at = { ...request, epoch: "e", offset: 7 };
    expect(sent(first)).toEqual([{ id: 2, subscribe: { ...at, cursor: "k" } }]);
    const second = page('"epoch":"e","phase":2,"cursor":"l",');
    expect(sent(second)).toEqual([{ id: 2, subscribe: { ...at, offset: 0, cursor: "l" } }]);
    expect(progress.done).toBe(false);
    expect(sent(page('"recoverable":true,"epoch":"e","offset":7,'))).toEqual([]);
    expect(progress.done).toBe(true);
    const stuck = new ConnectSteps({ path: "/", steps: centrifugoSteps(caller).slice(1) });
    stuck.take("");
    expect(() => stuck.take(page('"epoch":"e","phase":2,'))).toThrow("neither a cursor");
  });

  it("is done at once if there are no steps", () => {
    const progress = new ConnectSteps({ path: "/", steps: [] });
    expect(progress.take("")).toEqual([]);
    expect(progress.done).toBe(true);
  });
});

describe("streamPosition", () => {
  it("is the reply's, not a publication's", () => {
    const reply =
      '{"id":1,"connect":{}}\n{"id":2,"subscribe":{"epoch":"abcd","publications":[{"data":{"text":"x"},"offset":7}],"offset":9}}';
    expect(streamPosition(reply)).toEqual({ epoch: "abcd", offset: 9 });
  });

  it("is at 0 without an offset, and undefined without an epoch", () => {
    expect(streamPosition('{"id":2,"subscribe":{"epoch":"abcd"}}')).toEqual({
      epoch: "abcd",
      offset: 0,
    });
    expect(streamPosition('{"id":1,"connect":{},"offset":3}')).toBeUndefined();
  });
});
