import { describe, expect, it } from "vitest";
import {
  connectionCharacters,
  type ConnectionState,
} from "../../../src/contract/connection-state.ts";
import { limits } from "../../../src/limits.ts";
import { ConnectionList } from "../../../src/users/connection-list.ts";

const plain: ConnectionState = {
  client: "c1",
  user: "ada",
  node: "channel:news",
  transport: "websocket",
  protocol: "json",
  connectedAtMs: 1,
  expireAtSeconds: 0,
  subscriptions: [],
};

describe("the list of a user's connections", () => {
  it("[U20] [B1] holds so many, and says that there are more", () => {
    const list = new ConnectionList();
    list.append(Array.from({ length: limits.connectionsListedMax }, () => plain));
    expect(list.result.incomplete).toBeUndefined();
    list.append([plain]);
    expect(list.result.connections).toHaveLength(limits.connectionsListedMax);
    expect(list.result.incomplete).toBe(true);
  });

  it("[U20] [B1] holds so many characters, whatever the connections' channels are", () => {
    const subscriptions = Array.from({ length: 1_000 }, (_, index) => ({
      channel: `${index}`.padEnd(255, "x"),
      source: 6,
      expireAtSeconds: 0,
      options: [],
    }));
    const large = { ...plain, subscriptions };
    const list = new ConnectionList();
    list.append(Array.from({ length: 100 }, () => large));
    const { connections, incomplete } = list.result;
    expect(connections).toHaveLength(
      Math.floor(limits.answerBytesMax / connectionCharacters(large)),
    );
    expect(incomplete).toBe(true);
    // The estimate is no less than what is written.
    expect(connectionCharacters(large)).toBeGreaterThan(JSON.stringify(large).length);
  });

  it("[U20] is incomplete without the answer of an object", () => {
    const list = new ConnectionList();
    list.append([plain]);
    list.miss();
    expect(list.result).toStrictEqual({ connections: [plain], incomplete: true });
  });
});
