import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
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
