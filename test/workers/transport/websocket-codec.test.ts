import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { handoverHeader, parseHandover } from "../../../src/contract/handover.ts";
import { address, answerOf, fetchWith } from "../support/api-request.ts";
import { openConfig } from "../support/open-transports.ts";
import { untouchable, watchedUpgrades } from "../support/watched-upgrades.ts";

/** The facts about a handshake that the edge passes to an object. */
async function handedOver(path: string, headers: object = {}) {
  const told: object[] = [];
  const answer = async ({ request }: { request: Request }) => {
    told.push(parseHandover(request.headers.get(handoverHeader) ?? ""));
    return new Response(null, { status: 101, webSocket: new WebSocketPair()[0] });
  };
  const request = new Request(address(path), { headers: { Upgrade: "websocket", ...headers } });
  const response = await fetchWith(
    {
      config: openConfig,
      CHANNELS: watchedUpgrades(env.CHANNELS, answer),
      GATEWAYS: watchedUpgrades(env.GATEWAYS, answer),
    },
    request,
  );
  expect(response.status).toBe(101);
  return told;
}

describe.each(["/connection", "/channel/news"])("a handshake at %s", (base) => {
  it.each<[string, string, object, object]>([
    ["nothing", "", {}, {}],
    ["a subprotocol", "", { "Sec-WebSocket-Protocol": "centrifuge-json" }, {}],
    ["another", "", { "Sec-WebSocket-Protocol": "centrifuge-protobuf" }, { codec: "protobuf" }],
    ["a third", "", { "Sec-WebSocket-Protocol": "a,centrifuge-msgpack" }, { codec: "msgpack" }],
    ["a format", "?format=protobuf", {}, { codec: "protobuf" }],
    ["a protocol", "?cf_protocol=msgpack", {}, { codec: "msgpack" }],
    ["an empty format", "?format=&cf_protocol=", {}, {}],
    ["a version", "?cf_protocol_version=v2", {}, {}],
    [
      "a format besides a subprotocol",
      "?format=json",
      { "Sec-WebSocket-Protocol": "centrifuge-protobuf" },
      {},
    ],
    ["no pings as frames", "?cf_ws_frame_ping_pong=false", {}, {}],
  ])("[W1] chooses the codec by %s", async (_, query, headers, codec) => {
    const told = await handedOver(`${base}/websocket${query}`, headers);
    expect(told).toStrictEqual([{ v: 1, keepalive: "server", ...codec }]);
  });

  it("[T8] is for unidirectional clients at uni_websocket", async () => {
    const told = await handedOver(`${base}/uni_websocket`);
    expect(told).toStrictEqual([{ v: 1, keepalive: "server", codec: "one_way" }]);
  });

  it("[W1] is told why the server sends no pings as frames, and what to do", async () => {
    const objects = { CHANNELS: untouchable(env.CHANNELS), GATEWAYS: untouchable(env.GATEWAYS) };
    const to = address(`${base}/websocket?cf_ws_frame_ping_pong=true`);
    const request = new Request(to, { headers: { Upgrade: "websocket" } });
    expect(await answerOf(await fetchWith(objects, request))).toStrictEqual({
      status: 400,
      body:
        "cf_ws_frame_ping_pong is not supported, because a Durable Object can't send WebSocket ping frames: omit it to " +
        "get pings of the protocol, or send pings from the client with ?keepalive=client",
    });
  });
});
