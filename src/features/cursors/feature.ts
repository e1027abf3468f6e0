import type { Feature } from "../feature.ts";
import { ChannelCursors } from "./channel-cursors.ts";
import { noticesOf } from "./audience/notices.ts";
import { UnseenWatch } from "./audience/unseen-watch.ts";
import { noAudience, noCursors } from "./no-cursors.ts";
import { cursorCallers, cursorChannelCalls, cursorGatewayCalls, cursorHomeCalls } from "./calls.ts";
import { newChannelIndex } from "./forgetting/channel-index.ts";
import { CursorDriver } from "./cursor-driver.ts";
import { notingGateway, SubscriberNotes } from "./subscriber-notes.ts";
import { cursorMethodsOf } from "./client-methods.ts";
import { ChannelAudience } from "./audience/channel-audience.ts";
import { audienceMethods, audienceRows } from "./audience/audience-methods.ts";
import { membersOfSubscriptions } from "./audience/membership.ts";
import { KeptUsers } from "./forgetting/kept-users.ts";
import { UserTeller } from "./forgetting/user-teller.ts";
import { cursorApiMethods, cursorRows } from "./methods.ts";

/** The cursors feature: each channel keeps how far each user has got and read. */
export const cursors = {
  operations: { ...cursorRows, ...audienceRows },
  methods: { ...cursorApiMethods, ...audienceMethods },
  gatewayCalls: cursorGatewayCalls,
  channelCalls: cursorChannelCalls,
  homeCalls: cursorHomeCalls,
  callers: cursorCallers,
  ofHome: newChannelIndex,
  ofObject: ({ config }) => {
    const clientMethods = cursorMethodsOf(config);
    return clientMethods && { ofSessions: { clientMethods } };
  },
  ofChannel: (channel, { sql }, { client }) => {
    const { cursors: options } = channel.options;
    if (options === undefined) return [noCursors];
    const kept = new KeptUsers(sql);
    const notices = noticesOf(channel, options, sql, kept, client.pingIntervalMs);
    return [
      new ChannelCursors(channel, options, kept, notices),
      options.audience === "none" ? noAudience : new ChannelAudience(channel, kept, notices),
    ];
  },
  ofChannelObject: (object) => {
    const { parts } = object.channel;
    const marks = parts.find((part) => part instanceof ChannelCursors);
    if (marks === undefined) return [];
    const driver = new CursorDriver(object, marks);
    const { notices } = parts.find((part) => part instanceof ChannelAudience) ?? {};
    return [
      driver,
      new UserTeller(object, marks.kept),
      membersOfSubscriptions,
      ...(notices === undefined ? [] : [new UnseenWatch(object, { ...notices, census: driver })]),
    ];
  },
  ofGateway: (object) =>
    cursorMethodsOf(object.config)
      ? [new SubscriberNotes(notingGateway(object)), membersOfSubscriptions]
      : [],
} as const satisfies Feature;
