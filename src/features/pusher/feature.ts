import { limits } from "../../limits.ts";
import { answerOf } from "../../object/object-call.ts";
import { parseGatewayName } from "../../contract/object-names.ts";
import type { ObjectPart, PartedGateway } from "../../object/part.ts";
import type { Feature } from "../feature.ts";
import { pusherMethods } from "./client-methods.ts";
import { activityMs, PusherDialect } from "./dialect.ts";
import { MemberLists } from "./member-lists.ts";
import { dialectName } from "./names.ts";

/** Applications whose clients speak the Pusher protocol, on gateways of their own. */
export const pusher = {
  ofGateway: (gateway) => {
    const { config, platform } = gateway;
    if (config.pusher === undefined) return [];
    const address = parseGatewayName(platform.name);
    const isOwn = address.kind === "pool" && address.dialect === dialectName;
    return isOwn ? [pusherPart(gateway)] : [];
  },
} as const satisfies Feature;

function pusherPart(object: PartedGateway): ObjectPart {
  const { config, platform, called, endEvent } = object;
  const { verifier } = platform;
  const members = new MemberLists({
    census: (channel, done) => {
      called();
      platform.call("present", channel, [], limits.objectAnswerMs, (reply) => {
        const answer = answerOf(reply);
        done(answer?.outcome === "present" ? answer.clients : undefined);
        // Who came or went meanwhile is collected for the subscribers.
        for (const one of object.gateway.follower(channel)?.subscriptions ?? [])
          object.gateway.catchUp(one);
        endEvent(platform.nowMs());
      });
    },
    isFollowed: (channel) => object.gateway.follower(channel) !== undefined,
  });
  return {
    ofSessions: {
      // Clients ping when they have heard nothing for so long.
      config: { ...config, client: { ...config.client, pingIntervalMs: activityMs } },
      dialect: new PusherDialect({ config, verifier, members }),
      clientMethods: pusherMethods(config, verifier),
    },
    ofGateway: { joins: (channel, send) => members.follow(channel, send) },
  };
}
