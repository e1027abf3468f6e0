import type { Push, SubscribeResult } from "../../../src/protocol/reply.ts";
import { nothing } from "./bare-subscribe-result.ts";
import { valid } from "./valid-json-text.ts";

/** The removal of a key, with every field that a removal may have. */
export const removal: Push = {
  type: "publication",
  channel: "x",
  publication: {
    data: new Uint8Array(),
    offset: 1,
    tags: { t: "v" },
    key: "k",
    removed: true,
    epoch: "e",
  },
};

/** The answer to a subscribe that reads a page of a map's state. */
export const statePage: SubscribeResult = {
  ...nothing,
  position: { offset: 5, epoch: "e" },
  type: 1,
  phase: 2,
  cursor: "k",
  state: [
    { data: valid("1"), offset: 3, key: "j" },
    { data: valid("2"), offset: 4, key: "k" },
  ],
};
