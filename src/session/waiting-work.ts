import type { Message } from "../protocol/codec.ts";
import type { Subscription } from "./subscription.ts";

/** The work that a session keeps for the end of its connect, or for the answer of the user's home. Most keep none. */
export class WaitingWork {
  /** Subscriptions whose join is announced when the user's home has answered (rule U4). */
  readonly announcements: Subscription[] = [];
  /** Pushes that follow the connect reply. */
  readonly pushes: Message[] = [];
  /** Orders that are carried out after the connect reply. */
  readonly works: (() => void)[] = [];
  /** Channels that an order ended before their subscribe was answered (rule U2). */
  readonly cancelled = new Set<string>();
}
