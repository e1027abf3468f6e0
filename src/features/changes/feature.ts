import type { Feature } from "../feature.ts";
import { ChannelChanges, noChanges } from "./channel-changes.ts";
import { changeMethods, changeRows } from "./methods.ts";

/** The changes feature: publications of a channel can be edited and deleted. */
export const changes = {
  operations: changeRows,
  methods: changeMethods,
  ofChannel: (channel) => [
    channel.options.changes === undefined ? noChanges : new ChannelChanges(channel),
  ],
} as const satisfies Feature;
