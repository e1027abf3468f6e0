import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { FrameCounter } from "./frame-counter.ts";
import { FramePayloads } from "./frame-payloads.ts";
import { chunked, chunksOf } from "./chunked.ts";
import { encoded, ping, type ServerFrame, serverFrames } from "./server-frames.ts";

/** The events of a socket's frames, in order. */
class RecordedEvents {
  readonly events: string[] = [];
  readonly counter: FrameCounter;

  constructor(textPing: string | undefined = ping, countsLines = false) {
    this.counter = new FrameCounter(
      textPing,
      {
        pinged: (payload) => this.events.push(`ping ${payload.toString("latin1")}`),
        textPinged: () => this.events.push("text ping"),
        closed: (code) => this.events.push(`closed ${code}`),
        broken: (problem) => this.events.push(problem),
      },
      countsLines,
    );
  }

  get all(): object {
    const { publications, frames } = this.counter;
    return { publications, frames, events: this.events };
  }
}

/** The same from whole frames. */
function looked(frames: readonly ServerFrame[]): object {
  const events: string[] = [];
  let publications = 0;
  let count = 0;
  for (const { opcode, payload } of frames) {
    const text = payload.toString("latin1");
    if (opcode === 9) events.push(`ping ${text}`);
    else if (opcode === 8) {
      events.push(`closed ${payload.length < 2 ? 1005 : payload.readUInt16BE(0)}`);
    } else if (opcode === 1 && text === ping) events.push("text ping");
    else if (opcode < 8) {
      count++;
      publications += text.split("^").length - 1;
    }
  }
  return { publications, frames: count, events };
}

const received = serverFrames.chain((frames) =>
  chunked(Buffer.concat(frames.map((frame) => encoded(frame)))).map((cut) => ({ frames, cut })),
);

/** The buffer for all sockets' bytes, full of markers that belong to no publication. */
const shared = Buffer.alloc(300_001, "^");

describe("FrameCounter", () => {
  it("counts the same whatever the chunks, in a buffer that also holds older bytes", () => {
    fc.assert(
      fc.property(received, fc.nat({ max: 3 }), ({ frames, cut }, start) => {
        const recorded = new RecordedEvents();
        for (const chunk of chunksOf(cut)) {
          chunk.copy(shared, start);
          recorded.counter.take(shared, start, start + chunk.length);
          shared.fill("^", 0, start + chunk.length);
        }
        expect(recorded.all).toEqual(looked(frames));
        expect(recorded.counter.betweenFrames).toBe(true);
      }),
    );
  });

  it("counts in a buffer that ends with its chunk", () => {
    fc.assert(
      fc.property(received, ({ frames, cut }) => {
        const recorded = new RecordedEvents();
        for (const chunk of chunksOf(cut)) {
          const bytes = Uint8Array.from(chunk);
          recorded.counter.take(Buffer.from(bytes.buffer), 0, bytes.length);
        }
        expect(recorded.all).toEqual(looked(frames));
      }),
    );
  });

  it("doesn't count the bytes of lengths as publications", () => {
    const recorded = new RecordedEvents();
    for (const length of [0x7e, 0x7e7e, 0x7e_7e_7e]) {
      const bytes = encoded({ opcode: 1, payload: Buffer.alloc(length, "x") });
      recorded.counter.take(bytes, 0, bytes.length);
    }
    expect(recorded.all).toEqual({ publications: 0, frames: 3, events: [] });
  });

  it("counts a frame like a ping if the system has no such ping", () => {
    const recorded = new RecordedEvents("");
    const bytes = encoded({ opcode: 1, payload: Buffer.from(ping) });
    recorded.counter.take(bytes, 0, bytes.length);
    expect(recorded.all).toEqual({ publications: 0, frames: 1, events: [] });
  });

  it.each([
    ["a masked frame", [0x81, 0x81, 0, 0, 0, 0, 0x7e]],
    ["a frame with reserved bits", [0xc1, 1, 0x7e]],
    ["a frame without end", [0x82, 127, 255, 255, 255, 255, 255, 255, 255, 255, 0x7e]],
  ])("reports %s and stops", (problem, bytes) => {
    const recorded = new RecordedEvents();
    recorded.counter.take(Buffer.from(bytes), 0, bytes.length);
    expect(recorded.all).toMatchObject({ publications: 0, events: [problem] });
  });
});

/** Frames of a server that sends several lines in one, pings among them. */
const lineFrames = fc
  .array(
    fc.array(fc.constantFrom(ping, "", "{", "{}}", " {}", "^1", "^2^", '{"a":{}}'), {
      minLength: 1,
      maxLength: 5,
    }),
  )
  .chain((frames) =>
    chunked(
      Buffer.concat(
        frames.map((lines) => encoded({ opcode: 1, payload: Buffer.from(lines.join("\n")) })),
      ),
    ).map((cut) => ({ frames, cut })),
  );

describe("FrameCounter of lines", () => {
  it("tells pings from other lines of a frame, whatever the chunks", () => {
    fc.assert(
      fc.property(lineFrames, ({ frames, cut }) => {
        const recorded = new RecordedEvents(ping, true);
        for (const chunk of chunksOf(cut)) {
          chunk.copy(shared, 0);
          recorded.counter.take(shared, 0, chunk.length);
          shared.fill("^", 0, chunk.length);
        }
        const others = frames.map((lines) => lines.filter((line) => line !== ping && line !== ""));
        const pings = frames.flat().filter((line) => line === ping);
        expect({ ...recorded.all, lines: recorded.counter.lines }).toEqual({
          publications: frames.flat().join("").split("^").length - 1,
          frames: others.filter((lines) => lines.length > 0).length,
          events: pings.map(() => "text ping"),
          lines: others.flat().length,
        });
      }),
    );
  });
});

describe("FramePayloads", () => {
  it("gives the payloads of all frames but control frames, whatever the chunks", () => {
    fc.assert(
      fc.property(received, ({ frames, cut }) => {
        const payloads = new FramePayloads();
        const given = chunksOf(cut).flatMap((chunk) => payloads.take(chunk));
        const data = frames.filter(({ opcode }) => opcode < 8);
        expect(Buffer.concat(given).equals(Buffer.concat(data.map(({ payload }) => payload)))).toBe(
          true,
        );
        expect(given.map(({ length }) => length)).toEqual(
          data.map(({ payload }) => payload.length),
        );
      }),
    );
  });

  it("keeps its payloads when the buffer is reused", () => {
    const bytes = encoded({ opcode: 1, payload: Buffer.from("^1000000") });
    const given = new FramePayloads().take(bytes);
    bytes.fill(0);
    expect(given.map((payload) => payload.toString())).toEqual(["^1000000"]);
  });
});
