import type { Config } from "../../config/config.ts";
import type { Cursor } from "../../contract/session-snapshot.ts";
import { parseGatewayName } from "../../contract/object-names.ts";
import type { ObjectPart, PartedGateway } from "../../object/part.ts";
import { eventLimits } from "../events/limits.ts";
import type { Feature } from "../feature.ts";
import { isClients, listsMembers, nameIn } from "./channel-names.ts";
import { CatchUp } from "./catch-up.ts";
import { pusherMethods } from "./client-methods.ts";
import { activityMs, PusherDialect } from "./dialect.ts";
import { pusherLimits } from "./limits.ts";
import { MemberLists } from "./member-lists.ts";
import { dialectName } from "./names.ts";
import { AppChannel, countsSubscriptions } from "./channel/app-channel.ts";
import { ChannelDriver } from "./channel/channel-driver.ts";
import { SubscriptionCounter } from "./channel/subscription-counter.ts";
import { Watchlists } from "./watchlists.ts";
import { appsOf, WebhookOutbox, webhooksOf } from "./channel/webhook-outbox.ts";

/** Applications whose clients speak the Pusher protocol, on gateways of their own. */
export const pusher = {
  ofObject: ({ config, knownChannel }) =>
    knownChannel !== undefined && isChecked(config, knownChannel)
      ? { ofChannel: () => ({ followersCheckMs: eventLimits.eventsFollowersCheckMs }) }
      : undefined,
  ofChannel: (channel, { sql }, config) => {
    const apps = appsOf(config, channel.name);
    const [app] = apps;
    if (app === undefined) return [];
    const name = nameIn(app, channel.name, config.channel);
    // Nobody is told of the channels of users.
    const told = isClients(name) ? webhooksOf(apps) : [];
    const webhooks = told.map((one, index) => new WebhookOutbox(sql, one, `webhook_${index}_`));
    const isCounted = countsSubscriptions(config, channel.name);
    return [new AppChannel(channel, name, sql, webhooks, isCounted)];
  },
  ofChannelObject: (object) => {
    const kept = object.channel.parts.find((part) => part instanceof AppChannel);
    return kept === undefined ? [] : [new ChannelDriver(object, kept)];
  },
  ofGateway: (gateway) => {
    const { config, platform } = gateway;
    if (config.pusher === undefined) return [];
    const address = parseGatewayName(platform.name);
    const isOwn = address.kind === "pool" && address.dialect === dialectName;
    const awaitsEnd = (_: object, channel: string): boolean => isChecked(config, channel);
    const isCounting = config.pusher.apps.some((app) => app.enableSubscriptionCount);
    return [
      { awaitsEnd },
      ...(isCounting ? [new SubscriptionCounter(gateway)] : []),
      ...(isOwn ? [pusherPart(gateway)] : []),
    ];
  },
} as const satisfies Feature;

/** Whether it matters when a gateway has no subscriber of a channel any more. */
function isChecked(config: Config, channel: string): boolean {
  const apps = appsOf(config, channel);
  const [app] = apps;
  if (app === undefined) return false;
  const name = nameIn(app, channel, config.channel);
  const isTold = webhooksOf(apps).some(({ webhook }) => webhook.eventTypes.has("channel_vacated"));
  return (isTold && isClients(name)) || listsMembers(name) || countsSubscriptions(config, channel);
}

function pusherPart(object: PartedGateway): ObjectPart {
  const { config, platform } = object;
  const { verifier } = platform;
  const members = new MemberLists({
    census: (channel, done) => {
      const { gateway } = object;
      gateway.ask(channel, { method: "members" }, (reply) => {
        if (reply.outcome !== "members") {
          done(undefined);
          return;
        }
        const finish = (triesLeft: number): void => {
          if (triesLeft > 0 && isBehind(gateway.follower(channel)?.cursor, reply)) {
            object.later(pusherLimits.membersPollMs, () => finish(triesLeft - 1));
            return;
          }
          done(reply.clients);
          // Joins and leaves of meanwhile are collected for the subscribers.
          for (const one of gateway.follower(channel)?.subscriptions ?? []) gateway.catchUp(one);
        };
        finish(pusherLimits.membersPolls);
      });
    },
    announce: (channel, info) =>
      object.gateway.ask(
        channel,
        { method: "announce", entries: [{ type: "join", info }] },
        () => undefined,
      ),
    later: object.later,
    isFollowed: (channel) => object.gateway.follower(channel) !== undefined,
  });
  const catchUp = new CatchUp(config);
  const watchlists = new Watchlists(config, members);
  const missed = (channel: string): void =>
    object.gateway.ask(channel, { method: "cacheMissed" }, () => undefined, true);
  return {
    ofSessions: {
      config: ofClients(config),
      dialect: new PusherDialect({ config, verifier, members, catchUp, missed }),
      clientMethods: pusherMethods(config, verifier, { catchUp, watchlists }),
    },
    ofGateway: { joins: (channel, send) => members.follow(channel, send) },
  };
}

/** The configuration of the clients' sessions. */
function ofClients(config: Config): Config {
  const { refresh: _, ...hooks } = config.hooks;
  return {
    ...config,
    // A sign-in can't be extended, and where it is required the client has had its time.
    hooks,
    client: {
      ...config.client,
      expiredCloseDelayMs: 0,
      // Clients ping when they have heard nothing for so long.
      pingIntervalMs: activityMs,
    },
  };
}

/** Whether something that a channel's object had told by a number is still on its way to the gateway. */
function isBehind(
  cursor: Cursor | undefined,
  { instance, sequence }: { readonly instance: number; readonly sequence: number },
): boolean {
  if (cursor === undefined || sequence === 0) return false;
  return cursor.instance < instance || (cursor.instance === instance && cursor.sequence < sequence);
}
