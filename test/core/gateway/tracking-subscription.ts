import type { SubscriptionSnapshot } from "../../../src/contract/session-snapshot.ts";
import type { Message } from "../../../src/protocol/codec.ts";
import { jsonCodec } from "../../../src/protocol/json/codec.ts";
import { Subscription } from "../../../src/session/subscription.ts";
import { textOf } from "../../support/text-of.ts";
import { unanswered } from "../session/test-connection.ts";

/**
 * A subscription to a shared poll, of a session that a test replaces.
 *
 * @param client   the ID of its connection
 * @param received called with each frame
 * @param lost     called when the subscription ends with 2500
 */
export function trackingSubscription(
  client: string,
  granted: SubscriptionSnapshot,
  received: (frame: string) => void,
  lost: (subscription: Subscription) => void,
): Subscription {
  const socket = {
    send: (frame: Message) => received(textOf(frame)),
    backlogBytes: () => 0,
  };
  const session = {
    ...unanswered,
    hasRoomForCursor: () => true,
    save: () => undefined,
    subscriptionChanged: () => undefined,
    disconnect: () => undefined,
    insufficientState: lost,
  };
  return new Subscription({ user: "42", client }, granted, jsonCodec, socket, session);
}
