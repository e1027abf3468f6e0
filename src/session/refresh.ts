import type { ConnectionClaims, ConnectionVerdict, SubscriptionVerdict } from "../access/claims.ts";
import { errorCodes } from "../protocol/codes.ts";
import type { SubRefreshRequest } from "../protocol/command.ts";
import { type Decision, failWith } from "./decision.ts";
import { refresh, subRefresh } from "./refresh-commands.ts";
import { serverChannels } from "./server-subscriptions.ts";
import type { SessionState } from "./session-state.ts";
import { clientInfo } from "./subscription.ts";

/** Carries out a refresh: the new token's info is what others see from now on, as they would after sleep (rule S2). */
export function carryOutRefresh(
  state: SessionState,
  id: number,
  verdict: ConnectionVerdict | undefined,
  nowMs: number,
): Decision {
  const { config, serverSubscriptions } = state.context;
  const channelsOf = (claims: ConnectionClaims): ReadonlySet<string> =>
    serverSubscriptions ? serverChannels(claims, config) : noChannels;
  const decision = refresh(id, state.snapshot, verdict, channelsOf, nowMs);
  if (decision.outcome !== "reply") return decision;
  const { granted: snapshots, all } = state.subscriptions;
  if (!state.hasRoom(snapshots, decision.changes?.claims))
    return failWith(errorCodes.limitExceeded);
  const identity = { ...state.identity, ...decision.changes };
  for (const subscription of all) {
    subscription.info = clientInfo(identity, subscription.granted);
  }
  return decision;
}

/** Carries out the refresh of one subscription. */
export function carryOutSubRefresh(
  state: SessionState,
  id: number,
  request: SubRefreshRequest,
  verdict: SubscriptionVerdict | undefined,
  nowMs: number,
): Decision {
  const { snapshot, subscriptions, identity } = state;
  const refreshed = subRefresh(id, request, snapshot, verdict, nowMs);
  if (refreshed.outcome !== "refreshed") return refreshed;
  const granted = refreshed.subscription;
  const { channel } = granted;
  const snapshots = subscriptions.granted.map((one) => (one.channel === channel ? granted : one));
  if (!state.hasRoom(snapshots)) return failWith(errorCodes.limitExceeded);
  subscriptions.replace(granted);
  state.save();
  const subscription = subscriptions.get(channel);
  if (subscription !== undefined) subscription.info = clientInfo(identity, granted);
  return refreshed.decision;
}

const noChannels: ReadonlySet<string> = new Set();
