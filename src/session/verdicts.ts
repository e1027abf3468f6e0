import type { ConnectionVerdict, SubscriptionVerdict } from "../access/claims.ts";

/** What became of the token that came with a command, already verified: that takes time, and a session takes none. */
export interface Verdicts {
  readonly connection?: ConnectionVerdict;
  readonly subscription?: SubscriptionVerdict;
}
