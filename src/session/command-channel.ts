import type { Command } from "../protocol/command.ts";

/** What a command has to wait for: a subscribe to its channel; undefined when for nothing. */
export function channelOf(command: Command): string | undefined {
  switch (command.method) {
    case "subscribe":
    case "unsubscribe":
    case "publish":
    case "presence":
    case "presence_stats":
    case "history":
    case "sub_refresh":
      return command.request.channel;
    case "connect":
    case "refresh":
    case "rpc":
    case "send":
    case "ping":
    case "pong":
      return undefined;
  }
}

/** The channel among whose answers a command's has its place; presence may take its time, and nobody waits for it. */
export function orderedBy(command: Command): string | undefined {
  const isPresence = command.method === "presence" || command.method === "presence_stats";
  return isPresence ? undefined : channelOf(command);
}
