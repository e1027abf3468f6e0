import type { OrderOutcome } from "../users/local-users.ts";
import type { Subscription } from "./subscription.ts";
import type { Message } from "../protocol/codec.ts";

/** The work that a session keeps for the end of its connect, or for the answer of the user's home. Most keep none. */
export class Waiting {
  /** Subscriptions whose join is announced when the user's home has answered (rule U4). */
  readonly announcements: Subscription[] = [];
  /** Pushes that follow the connect reply. */
  readonly pushes: Message[] = [];
  /** Orders that are carried out after the connect reply. */
  readonly works: (() => void)[] = [];
  /** Called when the connection ends before an order has been carried out. */
  readonly ordersEnded = new Set<(outcome: OrderOutcome) => void>();
  /** Channels that an order ended before their subscribe was answered (rule U2). */
  readonly cancelled = new Set<string>();
}
