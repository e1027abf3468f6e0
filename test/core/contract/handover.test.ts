import { describe, expect, it } from "vitest";
import { type Handover, encodeHandover, parseHandover } from "../../../src/contract/handover.ts";
import { json } from "../api/channel-config.ts";

describe("a handover", () => {
  const handover: Handover = {
    v: 1,
    keepalive: "client",
    traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
    claims: { user: "Zoë\r\n😀\ud83d", expireAtSeconds: 5, info: json(`{"n":1.00}`) },
  };

  it("[V1] survives its header", () => {
    expect(parseHandover(encodeHandover(handover))).toStrictEqual(handover);
    const bare: Handover = { v: 1, keepalive: "server" };
    const asked: Handover = { ...bare, asked: { client: "c1", data: json('{"hi":"é"}') } };
    for (const one of [bare, asked]) expect(parseHandover(encodeHandover(one))).toStrictEqual(one);
  });

  it("[V1] is a header's value whatever the claims say", () => {
    expect(encodeHandover(handover)).toMatch(/^[!-~]+$/);
  });
});
