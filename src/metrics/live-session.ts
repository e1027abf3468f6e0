import { ownChannel } from "../contract/own-channel.ts";
import { limits } from "../limits.ts";
import type { Message } from "../protocol/codec.ts";
import { type DisconnectCode, disconnectCodes, errorCodes } from "../protocol/codes.ts";
import type { Command } from "../protocol/command.ts";
import { jsonCodec } from "../protocol/json/codec.ts";
import type { JsonText } from "../protocol/json/text.ts";
import { bareSubscribeResult, type ConnectResult } from "../protocol/reply.ts";
import { version } from "../version.ts";

/**
 * The connection of an operator's page that looks at the server's own channel (rule N7). It speaks the client protocol
 * in JSON, but isn't a client of the server: it has this one subscription, which the server made, and no command
 * changes anything.
 */

/** The outcome of a frame of such a page. */
export type LiveAnswer =
  /** The replies, in order. `connects`: its connect was among the commands. */
  | {
      readonly outcome: "answered";
      readonly replies: readonly Message[];
      readonly connects: boolean;
    }
  | { readonly outcome: "closed"; readonly code: DisconnectCode };

/**
 * Answers a frame.
 *
 * @param client       the connection's ID
 * @param hasConnected whether an earlier frame had the connect
 */
export function answerPage(frame: Message, client: string, hasConnected: boolean): LiveAnswer {
  if (frame.length > limits.liveFrameCharactersMax)
    return { outcome: "closed", code: disconnectCodes.messageSizeLimit };
  const { commands, malformed } = jsonCodec.decodeFrame(frame);
  const replies: Message[] = [];
  let connects = false;
  for (const command of commands) {
    const isConnect = command.method === "connect";
    if (isConnect === (hasConnected || connects))
      return { outcome: "closed", code: disconnectCodes.badRequest };
    connects ||= isConnect;
    const reply = isConnect ? connected(command.id, client) : refused(command);
    if (reply !== undefined) replies.push(reply);
  }
  return malformed === undefined
    ? { outcome: "answered", replies, connects }
    : { outcome: "closed", code: disconnectCodes.badRequest };
}

/** A publication of the server's own channel. */
export function encodeLive(data: JsonText): Message {
  const publication = { data, offset: 0 };
  return jsonCodec.encodePush({ type: "publication", channel: ownChannel, publication });
}

function connected(id: number, client: string): Message {
  const result: ConnectResult = {
    client,
    version,
    // The server ends the connection with the login; a page can't refresh it.
    ttlSeconds: 0,
    pingSeconds: limits.livePingMs / 1_000,
    pong: true,
    subscriptions: new Map([[ownChannel, bareSubscribeResult]]),
  };
  return jsonCodec.encodeReply({ id, method: "connect", result });
}

/** The reply to any other command; undefined for those that have none. */
function refused(command: Command): Message | undefined {
  const { method } = command;
  if (method === "pong" || method === "send") return undefined;
  return jsonCodec.encodeReply({ id: command.id, error: errorCodes.permissionDenied });
}
