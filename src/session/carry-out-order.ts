import type { UserOrder } from "../contract/user-order.ts";
import { type DisconnectCode, unsubscribeCodes, type UnsubscribeCode } from "../protocol/codes.ts";

/** Carries out an order of the user's home that names the session (rules U1 and U2). */
export function carryOutOrder(session: OrderedSession, order: UserOrder): void {
  switch (order.method) {
    case "disconnect":
      session.disconnect(order.code);
      return;
    case "unsubscribe":
      session.unsubscribe(order.channel, unsubscribeCodes.server);
  }
}

/** A session as orders need it. */
interface OrderedSession {
  disconnect(code: DisconnectCode): void;
  /** Ends a subscription, also one that is about to begin, and tells the client, also if it has none (rule U2). */
  unsubscribe(channel: string, code: UnsubscribeCode): void;
}
