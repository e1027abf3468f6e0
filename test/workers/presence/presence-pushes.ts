import { expect } from "vitest";
import type { Variant } from "../support/variant.ts";
import type { TestSocket } from "../support/test-socket.ts";

/** Subscribes a user to a channel of the namespace `room`, and reads its own join. */
export async function subscribePastJoin(
  variant: Variant,
  channel: string,
  user: string,
): Promise<TestSocket> {
  const socket = await variant.subscribe(channel, user);
  expect(await socket.line()).toBe(pushLine(channel, "join", infoJson(user, socket)));
  return socket;
}

/** The content of a client's join or leave. */
export function infoJson(user: string, { client }: TestSocket): string {
  return `{"info":{"user":"${user}","client":"${client}"}}`;
}

/** A push, byte for byte. */
export function pushLine(channel: string, kind: string, content: string): string {
  return `{"push":{"channel":"${channel}","${kind}":${content}}}`;
}
