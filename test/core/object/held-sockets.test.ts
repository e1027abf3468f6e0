import { expect, it } from "vitest";
import { HeldSockets } from "../../../src/object/unconnected-sockets.ts";

it("[B15] counts sockets that have ended for as long as the runtime holds them", () => {
  const held = new HeldSockets();
  const unread = { bufferedAmount: 1 };
  held.closed(unread);
  held.closed({ bufferedAmount: 0 });
  expect(held.leaveRoom(2)).toBe(true);
  expect(held.leaveRoom(1)).toBe(false);
  held.failed();
  expect(held.leaveRoom(2)).toBe(false);
  unread.bufferedAmount = 0;
  expect(held.leaveRoom(2)).toBe(true);
  expect(held.leaveRoom(1)).toBe(false);
});
