import { describe, expect, it } from "vitest";
import { encodeConnections } from "../../../src/api/connections.ts";
import type { ConnectionState } from "../../../src/contract/connection-state.ts";

const plain: ConnectionState = {
  client: "c1",
  user: "ada",
  node: "channel:news",
  transport: "websocket",
  protocol: "json",
  connectedAtMs: 1_700_000_000_123,
  expireAtSeconds: 0,
  subscriptions: [],
};

describe("the result of connections", () => {
  it("[U20] writes what Centrifugo PRO writes", () => {
    const connection: ConnectionState = {
      ...plain,
      node: "gateway:eu/3",
      appName: "shop",
      appVersion: '1.2"',
      expireAtSeconds: 1_800_000_000,
      subscriptions: [
        {
          channel: "news",
          source: 6,
          expireAtSeconds: 1_900_000_000,
          position: { offset: 7, epoch: "e" },
          options: ["recoverable", "positioned"],
        },
        { channel: "__proto__", source: 10, expireAtSeconds: 0, options: [] },
      ],
    };
    expect(encodeConnections({ connections: [connection] })).toBe(
      '{"connections":{"c1":{"user":"ada","app_name":"shop","app_version":"1.2\\"","transport":"websocket","protocol":"json","connected_at_ms":1700000000123,"ping_pong_latency_ms":-1,"node":"gateway:eu/3","region":"eu","expire_at":1800000000,"labels":{},"state":{"channels":{"news":{"source":6,"offset":7,"epoch":"e","expire_at":1900000000,"recoverable":true,"positioned":true},"__proto__":{"source":10}}}}}}',
    );
  });

  it("[U20] leaves out what is unknown, and says if connections may be missing", () => {
    expect(encodeConnections({ connections: [] })).toBe('{"connections":{}}');
    expect(encodeConnections({ connections: [plain], incomplete: true })).toBe(
      '{"connections":{"c1":{"user":"ada","transport":"websocket","protocol":"json","connected_at_ms":1700000000123,"ping_pong_latency_ms":-1,"node":"channel:news","labels":{},"state":{"channels":{}}}},"incomplete":true}',
    );
    const spilled = { ...plain, node: "gateway:channel/news/0" };
    expect(encodeConnections({ connections: [spilled] })).not.toContain("region");
  });
});
