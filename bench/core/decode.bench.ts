import { encode } from "@msgpack/msgpack";
import { expect, test } from "vitest";
import { codecNamed } from "../../src/protocol/codecs.ts";
import { jsonCodec } from "../../src/protocol/json/codec.ts";
import { proto, writeFrame } from "../../test/core/protocol/protobuf/peers.ts";
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
      bench("the JSON codec, which checks each field", () => {
        jsonCodec.decodeFrame(frame);
      }),
      bench("JSON.parse alone", () => {
        JSON.parse(frame);
      }),
    );
    expect(results.get("JSON.parse alone").latency.mean).toBeGreaterThan(0);
  },
);

const data = new TextEncoder().encode(payload);
const commands = {
  subscribe: {
    id: 2,
    subscribe: { channel: "news", recover: true, epoch: "abcdefgh", offset: 17 },
  },
  publish: { id: 3, publish: { channel: "news", data } },
};

test.for([
  ["protobuf", (command: object) => writeFrame(proto.lookupType("Command"), [command])],
  ["msgpack", (command: object) => encode(command)],
] as const)("commands are decoded from %s", async ([format, framed], { bench }) => {
  const codec = codecNamed(format);
  const frame = { subscribe: framed(commands.subscribe), publish: framed(commands.publish) };
  expect(codec.decodeFrame(frame.subscribe)).toMatchObject({ commands: [{ method: "subscribe" }] });
  expect(codec.decodeFrame(frame.publish)).toMatchObject({ commands: [{ method: "publish" }] });
  const results = await bench.compare(
    bench("subscribe", () => {
      codec.decodeFrame(frame.subscribe);
    }),
    bench("publish", () => {
      codec.decodeFrame(frame.publish);
    }),
  );
  expect(results.get("publish").latency.mean).toBeGreaterThan(0);
});
