import type { Feature } from "../feature.ts";
import { ChannelCursors, noCursors } from "./channel-cursors.ts";
import { cursorMethodsOf } from "./client-methods.ts";
import { cursorApiMethods, cursorRows } from "./methods.ts";

/** The cursors feature: each channel keeps how far each user has got and read. */
export const cursors = {
  operations: cursorRows,
  methods: cursorApiMethods,
  ofObject: ({ config }) => {
    const clientMethods = cursorMethodsOf(config);
    return clientMethods && { ofSessions: { clientMethods } };
  },
  ofChannel: (channel, { sql }) => {
    const { cursors: options } = channel.options;
    return [options === undefined ? noCursors : new ChannelCursors(channel, options, sql)];
  },
  ofChannelObject: ({ channel }) => {
    const kept = channel.parts.find((part) => part instanceof ChannelCursors);
    return kept === undefined ? [] : [{ storesNothing: () => kept.isEmpty }];
  },
} as const satisfies Feature;
