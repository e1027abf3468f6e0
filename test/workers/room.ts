import { expect } from "vitest";
import type { Setting } from "./setting.ts";
import type { TestSocket } from "./test-socket.ts";

/** Subscribes a user to a channel of the namespace `room`, past its own join. */
export async function enter(setting: Setting, channel: string, user: string): Promise<TestSocket> {
  const socket = await setting.subscribe(channel, user);
  expect(await socket.line()).toBe(push(channel, "join", infoOf(user, socket)));
  return socket;
}

/** What a join or a leave says of a client. */
export function infoOf(user: string, { client }: TestSocket): string {
  return `{"info":{"user":"${user}","client":"${client}"}}`;
}

/** A push, byte for byte. */
export function push(channel: string, kind: string, content: string): string {
  return `{"push":{"channel":"${channel}","${kind}":${content}}}`;
}
