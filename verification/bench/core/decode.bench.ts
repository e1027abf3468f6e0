import { expect, test } from "vitest";
import { jsonCodec } from "../../../src/protocol/json/codec.ts";
import { payload } from "./payload.ts";

const frames = {
  connect: `{"id":1,"connect":{"token":"${"x".repeat(200)}","name":"js"}}`,
  subscribe:
    '{"id":2,"subscribe":{"channel":"news","recover":true,"epoch":"abcdefgh","offset":17}}',
  publish: `{"id":3,"publish":{"channel":"news","data":${payload}}}`,
};

test.for(["connect", "subscribe", "publish"] as const)(
  "a frame with a %s command is decoded",
  async (method, { bench }) => {
    const frame = frames[method];
    expect(jsonCodec.decodeFrame(frame)).toMatchObject({ commands: [{ method }] });
    const results = await bench.compare(
      bench("our codec, which checks each field", () => {
        jsonCodec.decodeFrame(frame);
      }),
      bench("JSON.parse alone", () => {
        JSON.parse(frame);
      }),
    );
    expect(results.get("JSON.parse alone").latency.mean).toBeGreaterThan(0);
  },
);
