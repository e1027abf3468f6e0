import { expect, test } from "vitest";
import type { Message } from "../../src/protocol/codec.ts";
import { codecNamed } from "../../src/protocol/codecs.ts";
import { jsonCodec } from "../../src/protocol/json/codec.ts";
import { publicationPush, replies } from "./codec-messages.ts";
import { payload } from "./payload.ts";

test("a publication is encoded for its subscribers", async ({ bench }) => {
  const results = await bench.compare(
    bench("the JSON codec, which takes the data over as text", () => {
      jsonCodec.encodePush(publicationPush);
    }),
    bench("JSON.parse and JSON.stringify of the same", () => {
      const data: object = JSON.parse(payload);
      JSON.stringify({ push: { channel: "news", pub: { data, offset: 17 } } });
    }),
  );
  expect(
    results.get("the JSON codec, which takes the data over as text").latency.mean,
  ).toBeGreaterThan(0);
});

/** Reads one unit: a string that was put together of many is only then copied into one. */
function touch(message: Message): number {
  return (typeof message === "string" ? message.charCodeAt(1) : message[1]) ?? 0;
}

test.for(["json", "protobuf", "msgpack"] as const)(
  "a push and replies are encoded as %s",
  async (format, { bench }) => {
    const codec = codecNamed(format);
    const results = await bench.compare(
      bench("publication push", () => {
        touch(codec.encodePush(publicationPush));
      }),
      ...Object.entries(replies).map(([name, reply]) =>
        bench(name, () => {
          touch(codec.encodeReply(reply));
        }),
      ),
    );
    expect(results.get("publication push").latency.mean).toBeGreaterThan(0);
  },
);
