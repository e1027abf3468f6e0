/** Subscriptions that a client may have only because of another channel: their {@link Dependence} says why not. */
import { type UnsubscribeCode, unsubscribeCodes } from "../../protocol/codes.ts";
import type { CommandQueue } from "../command-queue.ts";
import type { Dependence, DependentClient } from "./dependence.ts";
import type { RefusedCommand } from "../decision.ts";
import { type CommandSession, type SessionContext, typeOf } from "../ports.ts";

/** Why a client may not subscribe to a channel, or not any more, because of another channel; undefined if it may. */
export function refusedByBase(
  client: DependentClient & { readonly context: SessionContext },
  channel: string,
): RefusedCommand | undefined {
  return dependenceOf(client.context, channel)?.refuse(client, channel);
}

/** Whether clients may have a channel only because of another one. */
export function isDependent(context: SessionContext, channel: string): boolean {
  return dependenceOf(context, channel) !== undefined;
}

/**
 * The channel for whose subscribe a command waits. Usually this is the command's own channel. It is another one if the
 * client may have the command's channel only because of that one, while a subscribe to that one is under way.
 *
 * @param queue   undefined if nothing waits
 * @param channel that the command names; undefined if it names none
 */
export function awaitedChannel(
  context: SessionContext,
  queue: Pick<CommandQueue, "isOpen"> | undefined,
  channel: string | undefined,
): string | undefined {
  if (channel === undefined || queue === undefined) return channel;
  const base = dependenceOf(context, channel)?.baseOf(channel, context.config.channel);
  return base !== undefined && queue.isOpen(base) ? base : channel;
}

/**
 * A subscription of the client has ended: ends those that the client had because of it.
 *
 * @param code why the server has ended it; undefined if the client did
 */
export function endDependents(
  session: CommandSession,
  channel: string,
  code: UnsubscribeCode = unsubscribeCodes.server,
): void {
  const { subscriptionTypes, config } = session.context;
  for (const type of Object.values(subscriptionTypes)) {
    const { dependence } = type;
    const dependent = dependence?.dependentOf(channel, config.channel);
    if (dependence === undefined || dependent === undefined) continue;
    const isKept = !session.subscriptions.has(dependent) || isServers(session, dependent);
    if (!isKept && dependence.refuse(session, dependent) !== undefined)
      session.unsubscribe(dependent, code);
  }
}

function dependenceOf(context: SessionContext, channel: string): Dependence | undefined {
  const found = context.channels.resolve(channel);
  return found.outcome === "resolved" ? typeOf({ context }, found.options)?.dependence : undefined;
}

/** Whether the server has made the subscription: then a backend has allowed it. */
function isServers({ subscriptions }: CommandSession, channel: string): boolean {
  return subscriptions.get(channel)?.granted.serverSide === true;
}
