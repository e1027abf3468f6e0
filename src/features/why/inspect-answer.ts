import type { ShownPlacement } from "../../config/placement.ts";
import type { KeptRefusal } from "../../contract/kept-refusal.ts";
import type {
  ChannelState,
  ConnectionCounts,
  ObjectState,
  SubscriberCounts,
} from "./object-state.ts";
import type { CodeState } from "./code-state.ts";
import { type CollectedRefusal, edgeNode } from "../metrics/metrics-report.ts";
import type { ClosedConnection, GatewayProgress } from "./trail.ts";
import { gatewayNode } from "../../contract/object-names.ts";
import { type JsonText, trustedJsonText } from "../../protocol/json/text.ts";
import { jsonValue } from "../../protocol/wire-value.ts";

/** A gateway of the answer to `inspect`; `state` is undefined if it didn't answer. */
export interface InspectedGateway {
  readonly progress: GatewayProgress;
  readonly state: ObjectState | undefined;
  /** Whether it wasn't asked, because there are too many. */
  readonly wasSkipped: boolean;
}

/**
 * Writes the result of `inspect` for a channel (rule Y4).
 *
 * @param placement where the object is; absent if the configuration doesn't say
 */
export function encodeInspectedChannel(
  own: ObjectState,
  gateways: readonly InspectedGateway[],
  placement?: ShownPlacement,
): JsonText {
  const isComplete = gateways.every(({ state }) => state !== undefined);
  return trustedJsonText(
    JSON.stringify({
      ...shownObject(own, placement),
      ...(own.channel === undefined ? {} : { channel: shownChannel(own.channel, gateways) }),
      ...(isComplete ? {} : { incomplete: true }),
    }),
  );
}

/** The same for a gateway. */
export function encodeInspectedObject(state: ObjectState, placement?: ShownPlacement): JsonText {
  return trustedJsonText(JSON.stringify(shownObject(state, placement)));
}

/** The same for the edge, which has no state but what was refused there. */
export function encodeInspectedEdge(
  version: string,
  refusals: readonly CollectedRefusal[],
): JsonText {
  return trustedJsonText(
    JSON.stringify({
      object: edgeNode,
      version,
      ...(refusals.length === 0 ? {} : { refusals: refusals.map(shownEdgeRefusal) }),
    }),
  );
}

function shownObject(state: ObjectState, placement: ShownPlacement | undefined): object {
  const { events, gateway, subscribers } = state;
  return {
    object: state.node,
    version: state.version,
    ...(placement && { placement }),
    awake_since_ms: state.awakeSinceMs,
    woken_by: state.wokenBy,
    events: Object.fromEntries(
      events.map(({ kind, sinceWake, lastHour }) => [
        kind,
        { since_wake: sinceWake, last_hour: lastHour },
      ]),
    ),
    alarm_at_ms: state.alarmAtMs,
    stored_bytes: state.storedBytes,
    connections: shownConnections(state.connections),
    backlog_bytes: state.backlogBytes,
    behind: state.behind,
    ...(gateway === undefined
      ? {}
      : { gateway: { channels: gateway.channels, held_bytes: gateway.heldBytes } }),
    ...(subscribers === undefined ? {} : { subscribers: shownSubscribers(subscribers) }),
    closes: state.closes.map(shownClose),
    ...(state.refusals.length === 0 ? {} : { refusals: state.refusals.map(shownRefusal) }),
  };
}

function shownConnections(counts: ConnectionCounts): object {
  const { connected, connecting, byTransport, byProtocol } = counts;
  return { connected, connecting, by_transport: byTransport, by_protocol: byProtocol };
}

function shownSubscribers(counts: SubscriberCounts): object {
  return {
    count: counts.subscribers,
    by_transport: counts.byTransport,
    by_protocol: counts.byProtocol,
    filtered: counts.filtered,
    delta: counts.delta,
    pending: counts.pending,
    ...counts.position,
    sequence: counts.sequence,
    sending: counts.isSending,
    collecting: counts.isCollecting,
  };
}

function shownChannel(channel: ChannelState, gateways: readonly InspectedGateway[]): object {
  const { top } = channel;
  return {
    name: channel.name,
    namespace_configured: channel.isKnown,
    ...top,
    newest_ms: channel.newestMs,
    history: { publications: channel.publications, size: channel.historySize },
    sequence: channel.sequence,
    committing: channel.isCommitting,
    waiting_bytes: channel.waitingBytes,
    gateways: gateways.map((one) => shownGateway(one, channel)),
    ...(channel.code === undefined ? {} : { code: shownCode(channel.code) }),
  };
}

function shownCode({ firstKeys, timers, lastCalls, ...code }: CodeState): object {
  return {
    ...code,
    first_keys: firstKeys.map(({ key, value }) =>
      value === undefined ? { key } : { key, value: jsonValue(value) },
    ),
    timers: timers.map(({ atMs, ...timer }) => ({ ...timer, at_ms: atMs })),
    last_calls: lastCalls.map(({ atMs, ...call }) => ({ ...call, at_ms: atMs })),
  };
}

function shownGateway(
  { progress, state, wasSkipped }: InspectedGateway,
  { instance }: ChannelState,
): object {
  const { lastCall } = progress;
  const subscribers = state?.subscribers;
  return {
    object: gatewayNode(progress.name),
    lag: progress.lag,
    failures: progress.failures,
    waits_until_ms: progress.waitsUntilMs,
    last_call:
      lastCall === undefined
        ? undefined
        : { begun_at_ms: lastCall.begunAtMs, ended_at_ms: lastCall.endedAtMs },
    ...(state === undefined ? { state: wasSkipped ? "not asked" : "unknown" } : {}),
    ...(subscribers === undefined ? {} : { subscribers: shownSubscribers(subscribers) }),
    ...(subscribers?.instance === undefined
      ? {}
      : { follows_this_instance: subscribers.instance === instance }),
    awake_since_ms: state?.awakeSinceMs,
    backlog_bytes: state?.backlogBytes,
  };
}

/** An end of a connection. */
function shownClose(close: ClosedConnection): object {
  const { client, user, openedAtMs, atMs, code, by, hadConnected } = close;
  const times = { opened_at_ms: openedAtMs, closed_at_ms: atMs };
  return { client, user, ...times, code, by, had_connected: hadConnected };
}

/** A refusal of the edge, without its object, which the answer names once. */
function shownEdgeRefusal(collected: CollectedRefusal): object {
  const { object: _, ...refusal } = collected;
  return shownRefusal(refusal);
}

function shownRefusal({ atMs, count, ...refusal }: KeptRefusal): object {
  return { at_ms: atMs, count, ...refusal };
}
