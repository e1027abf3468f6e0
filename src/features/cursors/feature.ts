import type { Feature } from "../feature.ts";
import { ChannelCursors, noCursors } from "./channel-cursors.ts";
import { cursorMethodsOf } from "./client-methods.ts";
import { cursorApiMethods, cursorRows } from "./methods.ts";

/** What each user has got and read of a channel. */
export const cursors = {
  operations: cursorRows,
  methods: cursorApiMethods,
  clientMethodsOf: cursorMethodsOf,
  ofChannel: (channel, { sql }) => {
    const { cursors: options } = channel.options;
    return [options === undefined ? noCursors : new ChannelCursors(channel, options, sql)];
  },
  ofChannelObject: ({ channel }) => {
    const kept = channel.parts.find((part) => part instanceof ChannelCursors);
    return kept === undefined ? [] : [{ storesNothing: () => kept.isEmpty }];
  },
} as const satisfies Feature;
