import type { Feature } from "../feature.ts";
import { pollCallers, pollCalls } from "./calls.ts";
import { GatewayTracking } from "./gateway-tracking.ts";
import { OwnTracking } from "./own-tracking.ts";
import { pollSubscriptions } from "./subscription-type.ts";
import { PollDriver } from "./poll-driver.ts";
import { pollMethods, pollOperations } from "./publish.ts";
import { SharedPoll } from "./shared-poll.ts";
import { ObjectTrackRows } from "./track-rows.ts";

/** Shared polls: channels whose clients follow keys, for whose values the server asks a backend. */
export const sharedPolls = {
  operations: pollOperations,
  methods: pollMethods,
  gatewayCalls: pollCalls,
  callers: pollCallers,
  subscriptionTypes: { shared_poll: pollSubscriptions },
  ofChannel: ({ name, relay, options: { sharedPoll } }, { newEpoch, nowMs }) =>
    sharedPoll ? [SharedPoll.begin(name, sharedPoll, relay, newEpoch, nowMs)] : [],
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
