import type { Push, Reply, SubscribeResult } from "../../src/protocol/reply.ts";
import { payload } from "./payload.ts";

/** What the server sends most, as the bench of the codecs encodes it. */

const client = "8f0c2b1e-5a4e-4d5f-9b38-2f6d0c1a7e11";
const position = { offset: 109, epoch: "abcdefgh" };
const publications = Array.from({ length: 10 }, (_, index) => ({
  data: payload,
  offset: 100 + index,
}));

const subscribed: SubscribeResult = {
  ttlSeconds: 0,
  recoverable: true,
  positioned: true,
  wasRecovering: false,
  recovered: false,
  publications: [],
  position,
};

export const publicationPush: Push = {
  type: "publication",
  channel: "news",
  publication: { data: payload, offset: 17 },
};

export const replies = {
  connect: {
    id: 1,
    method: "connect",
    result: {
      client,
      version: "0.1.0",
      ttlSeconds: 3_600,
      pingSeconds: 25,
      pong: true,
      subscriptions: new Map([["news", subscribed]]),
    },
  },
  "subscribe with 10 publications": {
    id: 2,
    method: "subscribe",
    result: { ...subscribed, wasRecovering: true, recovered: true, publications },
  },
  "history with 10 publications": { id: 3, method: "history", result: { publications, position } },
  publish: { id: 4, method: "publish" },
} as const satisfies Record<string, Reply>;
