import type { ChannelPart } from "../../channel/channel-part.ts";
import { pollCallers, pollCalls } from "./calls.ts";
import type { Feature } from "../feature.ts";
import { OwnTracking } from "./own-tracking.ts";
import { PollDriver } from "./poll-driver.ts";
import { GatewayTracking } from "./gateway-tracking.ts";
import { ObjectTrackRows } from "./track-rows.ts";
import { pollSubscriptions } from "./subscription-type.ts";
import { SharedPoll } from "./shared-poll.ts";
import { errorCodes } from "../../protocol/codes.ts";
import { pollMethods, pollOperations } from "./publish.ts";

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
