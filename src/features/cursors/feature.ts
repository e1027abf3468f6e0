import type { Feature } from "../feature.ts";
import { ChannelCursors } from "./channel-cursors.ts";
import { noAudience, noCursors } from "./no-cursors.ts";
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
  ofChannelObject: ({ channel }) => {
    const kept = channel.parts.find((part) => part instanceof ChannelCursors);
    if (kept === undefined) return [];
    return [{ storesNothing: () => kept.isEmpty }, membersOfSubscriptions];
  },
  ofGateway: () => [membersOfSubscriptions],
} as const satisfies Feature;
