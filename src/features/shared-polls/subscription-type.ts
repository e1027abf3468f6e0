import { errorCodes } from "../../protocol/codes.ts";
import { subscriptionTypes } from "../../protocol/command.ts";
import { cancelled, type Decision, failWith, type Grant } from "../../session/decision.ts";
import type { GrantedSubscribe, SubscriptionType } from "../../session/ports.ts";
import { withRoom } from "../../session/subscribe.ts";
import { changeTracks } from "./change-tracks.ts";
import { isTracking } from "./tracking.ts";

/**
 * Subscriptions to shared polls (docs/protocol.md 3.5). Such a subscription begins with the epoch of the versions (rule
 * SP8), and gets the changes of the keys that it tracks. Only backends publish (rule SP11).
 */
export const pollSubscriptions: SubscriptionType = {
  begin: (granted, asStream) =>
    withEpoch(granted, (grant) =>
      grant.outcome === "granted" ? asStream(grant) : granted.done(grant),
    ),
  changeTracks,
};

/** Finds out the epoch, which the client is told as a position. */
function withEpoch(
  { session, grant, request, options, nowMs }: GrantedSubscribe,
  done: (grant: Grant | Decision) => void,
): void {
  const { channel, filter, serverFilter } = grant.subscription;
  const isFiltered = (filter ?? serverFilter) !== undefined;
  // A delta's base is what the connection was sent of the key before.
  const hasDeltas = request.delta !== "" && options.allowDelta && !isFiltered;
  const tracking = session.context.channels.parts.find(isTracking);
  if (tracking === undefined) {
    done(failWith(errorCodes.notAvailable));
    return;
  }
  session.subscriptions.reserve(channel);
  tracking.epoch(channel, nowMs, (reply) => {
    if (session.closed) return;
    session.subscriptions.release(channel);
    if (session.takeCancelled(channel)) done(cancelled);
    else if (reply.outcome === "failed") done(failWith(reply.error));
    else {
      const { epoch } = reply;
      const delta = hasDeltas ? { delta: true as const } : {};
      const subscription = { ...grant.subscription, ...delta, pollEpoch: epoch };
      const replyFields = { type: subscriptionTypes.shared_poll, position: { epoch, offset: 0 } };
      done(withRoom(session, { ...grant, subscription, replyFields }));
    }
  });
}
