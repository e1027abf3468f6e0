import type { BaseSubscription } from "centrifuge";
import type { Feed, Problem } from "./feed.ts";

/** What is known of each subscription. */
export interface SubscriptionState {
  /** `unsubscribed` is final: the server has refused the subscription, or ended it. */
  readonly state: "subscribing" | "subscribed" | "unsubscribed";
  /** Why it isn't subscribed, or why something couldn't be read. */
  readonly problem: Problem | undefined;
}

export const subscribing: SubscriptionState = { state: "subscribing", problem: undefined };

/** What a component wants of a channel that needs a subscription token. */
export interface TokenGetter {
  /** Gets a token, as the SDK's `getToken` does. The newest function is called. */
  readonly getToken?: ((context: { readonly channel: string }) => Promise<string>) | undefined;
}

/** The SDK's options of a subscription. */
export function tokenOptions<Shown extends object, Calls>(
  feed: Feed<Shown, TokenGetter, Calls>,
): { readonly getToken?: (context: { readonly channel: string }) => Promise<string> } {
  const newest = () => feed.wishes.findLast(({ getToken }) => getToken !== undefined)?.getToken;
  if (newest() === undefined) return {};
  return { getToken: async (context) => (await newest()?.(context)) ?? "" };
}

/** Subscribes, and shows whether it is. Gives what does it again if the server has ended it. */
export function subscribe(
  subscription: Pick<BaseSubscription, "on" | "subscribe">,
  show: (change: SubscriptionState) => void,
): () => void {
  let hasEnded = false;
  subscription.on("subscribing", () => show(subscribing));
  subscription.on("unsubscribed", ({ code, reason }) => {
    hasEnded = true;
    show({ state: "unsubscribed", problem: { code, message: reason } });
  });
  subscription.subscribe();
  return () => {
    if (hasEnded) subscription.subscribe();
    hasEnded = false;
  };
}

/** What the SDK has rejected a call with. */
export function parseProblem(error: unknown): Problem {
  const { code = 0, message = String(error), temporary = false } = Object(error);
  return { code, message, temporary };
}

/** Whether the same call may work a moment later: the connection was lost, or the server was busy. */
export function isTemporary({ code, temporary }: Problem): boolean {
  return temporary === true || code < 100;
}
