import type { Feature } from "../feature.ts";
import { ChannelCursors } from "./channel-cursors.ts";
import { noticesOf } from "./audience/notices.ts";
import { UnseenWatch } from "./audience/unseen-watch.ts";
import { noAudience, noCursors } from "./no-cursors.ts";
import { cursorCallers, cursorGatewayCalls } from "./calls.ts";
import { CursorDriver } from "./cursor-driver.ts";
import { notingGateway, SubscriberNotes } from "./subscriber-notes.ts";
import { cursorMethodsOf } from "./client-methods.ts";
import { ChannelAudience } from "./audience/channel-audience.ts";
import { audienceMethods, audienceRows } from "./audience/audience-methods.ts";
import { MarkTable } from "./mark-table.ts";
import { MemberTable } from "./audience/member-table.ts";
import { membersOfSubscriptions } from "./audience/membership.ts";
import { cursorApiMethods, cursorRows } from "./methods.ts";

/** The cursors feature: each channel keeps how far each user has got and read. */
export const cursors = {
  operations: { ...cursorRows, ...audienceRows },
  methods: { ...cursorApiMethods, ...audienceMethods },
  gatewayCalls: cursorGatewayCalls,
  callers: cursorCallers,
  ofObject: ({ config }) => {
    const clientMethods = cursorMethodsOf(config);
    return clientMethods && { ofSessions: { clientMethods } };
  },
  ofChannel: (channel, { sql }, { client }) => {
    const { cursors: options } = channel.options;
    if (options === undefined) return [noCursors];
    const [marks, members] = [new MarkTable(sql), new MemberTable(sql)];
    const notices = noticesOf(channel, options, { sql, marks, members }, client.pingIntervalMs);
    return [
      new ChannelCursors(channel, options, { marks, members, notices }),
      options.audience === "none" ? noAudience : new ChannelAudience(channel, members, notices),
    ];
  },
  ofChannelObject: (object) => {
    const { parts } = object.channel;
    const kept = parts.find((part) => part instanceof ChannelCursors);
    if (kept === undefined) return [];
    const driver = new CursorDriver(object, kept);
    const { notices } = parts.find((part) => part instanceof ChannelAudience) ?? {};
    return [
      driver,
      membersOfSubscriptions,
      ...(notices === undefined ? [] : [new UnseenWatch(object, { ...notices, census: driver })]),
    ];
  },
  ofGateway: (object) =>
    cursorMethodsOf(object.config)
      ? [new SubscriberNotes(notingGateway(object)), membersOfSubscriptions]
      : [],
} as const satisfies Feature;
