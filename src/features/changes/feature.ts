import type { Feature } from "../feature.ts";
import { ChannelChanges, noChanges } from "./channel-changes.ts";
import { changeMethodsOf } from "./client-methods.ts";
import { ErasureEnd } from "./erasure-end.ts";
import { changeMethods, changeRows } from "./methods.ts";

/** The changes feature: publications of a channel can be edited and deleted. */
export const changes = {
  operations: changeRows,
  methods: changeMethods,
  ofObject: ({ config }) => {
    const clientMethods = changeMethodsOf(config);
    return clientMethods && { ofSessions: { clientMethods } };
  },
  ofChannelObject: (object) => {
    const changing = object.channel.parts.find((part) => part instanceof ChannelChanges);
    return changing === undefined ? [] : [new ErasureEnd(object, changing)];
  },
  ofChannel: (channel) => [
    channel.options.changes === undefined ? noChanges : new ChannelChanges(channel),
  ],
} as const satisfies Feature;
