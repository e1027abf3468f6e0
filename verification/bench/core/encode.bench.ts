import { expect, test } from "vitest";
import { jsonCodec } from "../../../src/protocol/json/codec.ts";
import { payload } from "./payload.ts";

test("a publication is encoded for its subscribers", async ({ bench }) => {
  const publication = { data: payload, offset: 17 };
  const results = await bench.compare(
    bench("our codec, which takes the data over as text", () => {
      jsonCodec.encodePush({ type: "publication", channel: "news", publication });
    }),
    bench("JSON.parse and JSON.stringify of the same", () => {
      const data: object = JSON.parse(payload);
      JSON.stringify({ push: { channel: "news", pub: { data, offset: 17 } } });
    }),
  );
  expect(results.get("our codec, which takes the data over as text").latency.mean).toBeGreaterThan(
    0,
  );
});
