import type { AddedGatewayCalls } from "../../contract/object-calls.ts";
import type { MakeCall } from "../../object/object-call.ts";
import type { AddedCalls, PartedGateway } from "../../object/part.ts";
import type { PollBatch, PollBatchReply } from "./poll-batch.ts";
import { GatewayTracking } from "./gateway-tracking.ts";
import { errorCodes } from "../../protocol/codes.ts";
import { subscriptionTypes } from "../../protocol/command.ts";
import { cancelled, type Decision, failWith, type Grant } from "../../session/decision.ts";
import type { GrantedSubscribe, SubscriptionType } from "../../session/ports.ts";
import { withRoom } from "../../session/subscribe.ts";
import { changeTracks } from "./change-tracks.ts";
import { isTracking } from "./tracking.ts";
import type { ChannelPart } from "../../channel/channel-part.ts";
import type { Feature } from "../feature.ts";
import { OwnTracking } from "./local-tracks.ts";
import { PollDriver } from "./poll-driver.ts";
import { ObjectTrackRows } from "./track-rows.ts";
import { SharedPoll } from "./shared-poll.ts";
import { pollMethods, pollOperations } from "./publish.ts";

declare module "../../contract/object-calls.ts" {
  interface AddedGatewayCalls {
    /** Takes what has changed of keys, and passes it on to the connections here that track them (rule SP7). */
    polled(batch: PollBatch): Promise<PollBatchReply>;
  }
}

type PollCalls = Pick<AddedGatewayCalls, "polled">;

/** Makes the call. */
export const pollCallers: { readonly polled: MakeCall<"polled"> } = {
  polled: (objects, to, request) => objects.gateway(to, (object) => object.polled(...request)),
};

/** The call with which a channel's object tells a gateway of changes. */
export const pollCalls: AddedCalls<PollCalls, PartedGateway> = {
  polled: {
    answer(object, [batch], done) {
      object.happened("batch");
      const nowMs = object.platform.nowMs();
      if (object.backlog.overloaded()) {
        done({ outcome: "busy" });
        return;
      }
      const reply = object.part(GatewayTracking)?.polled(batch, nowMs) ?? { outcome: "left" };
      if (reply.outcome !== "busy") object.endEvent(nowMs);
      done(reply);
    },
  },
};

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

/** On a channel that is no shared poll. */
const noPoll: ChannelPart = {
  carryOut: ({ method }) =>
    method === "shared_poll_publish" ? { outcome: "not-available" } : undefined,
  reply: (_, { method }) =>
    method === "track" || method === "untrack"
      ? { outcome: "failed", error: errorCodes.notAvailable }
      : undefined,
};

/** Shared polls: channels whose clients follow keys, for whose values the server asks a backend. */
export const sharedPolls = {
  operations: pollOperations,
  methods: pollMethods,
  gatewayCalls: pollCalls,
  callers: pollCallers,
  subscriptionTypes: { shared_poll: pollSubscriptions },
  ofChannel: ({ name, relay, options: { sharedPoll } }, { newEpoch, nowMs }) => [
    sharedPoll ? SharedPoll.begin(name, sharedPoll, relay, newEpoch, nowMs) : noPoll,
  ],
  ofChannelObject: (object) => {
    const { name, parts, options } = object.channel;
    const { sharedPoll } = options;
    const poll = parts.find((part) => part instanceof SharedPoll);
    return poll && sharedPoll
      ? [
          new PollDriver(poll, sharedPoll, object),
          new OwnTracking(poll, sharedPoll, name, object.config),
        ]
      : [];
  },
  ofGateway: (object) => {
    let rows: ObjectTrackRows | undefined;
    const tracking = new GatewayTracking({
      request: (...request) => object.gateway.ask(...request),
      queueMaxBytes: object.config.client.queueMaxSizeBytes,
      keysMax: (channel) =>
        object.gateway.optionsOf(channel)?.sharedPoll?.maxKeysPerConnection ?? 0,
      startedAtMs: object.platform.nowMs(),
      // Most gateways never look at them.
      get rows() {
        return (rows ??= new ObjectTrackRows(object.platform.sql));
      },
    });
    return [tracking];
  },
} as const satisfies Feature;
