import type { Feature } from "../feature.ts";
import { ChannelCursors } from "./channel-cursors.ts";
import { noAudience, noCursors } from "./no-cursors.ts";
import { cursorCallers, cursorGatewayCalls } from "./calls.ts";
import { CursorDriver } from "./cursor-driver.ts";
import { notingGateway, SubscriberNotes } from "./subscriber-notes.ts";
import { cursorMethodsOf } from "./client-methods.ts";
import { ChannelAudience } from "./audience.ts";
import { audienceMethods, audienceRows } from "./audience-methods.ts";
import { MarkTable } from "./mark-table.ts";
import { MemberTable } from "./member-table.ts";
import { membersOfSubscriptions } from "./membership.ts";
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
  ofChannel: (channel, { sql }) => {
    const { cursors: options } = channel.options;
    if (options === undefined) return [noCursors];
    const members = new MemberTable(sql);
    return [
      new ChannelCursors(channel, options, { marks: new MarkTable(sql), members }),
      options.audience === "none" ? noAudience : new ChannelAudience(channel, members),
    ];
  },
  ofChannelObject: (object) => {
    const { channel } = object;
    const kept = channel.parts.find((part) => part instanceof ChannelCursors);
    return kept === undefined ? [] : [new CursorDriver(object, kept), membersOfSubscriptions];
  },
  ofGateway: (object) =>
    cursorMethodsOf(object.config)
      ? [new SubscriberNotes(notingGateway(object)), membersOfSubscriptions]
      : [],
} as const satisfies Feature;
