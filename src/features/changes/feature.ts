import { HomeTeller } from "../cursors/forgetting/home-teller.ts";
import type { Feature } from "../feature.ts";
import { newAuthorIndex } from "./authors/author-index.ts";
import { authorCallers, authorHomeCalls } from "./authors/calls.ts";
import { ChannelAuthors } from "./authors/channel-authors.ts";
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
  homeCalls: authorHomeCalls,
  callers: authorCallers,
  ofHome: newAuthorIndex,
  ofChannelObject: (object) => {
    const { parts } = object.channel;
    const changing = parts.find((part) => part instanceof ChannelChanges);
    if (changing === undefined) return [];
    const authors = parts.find((part) => part instanceof ChannelAuthors);
    const end = new ErasureEnd(object, changing);
    return authors === undefined ? [end] : [end, new HomeTeller(object, authors, "keepAuthors")];
  },
  ofChannel: (channel, { sql }) => {
    const { changes: options } = channel.options;
    if (options === undefined) return [noChanges];
    if (!options.erasableByUser) return [new ChannelChanges(channel)];
    const authors = new ChannelAuthors(sql);
    return [new ChannelChanges(channel, authors), authors];
  },
} as const satisfies Feature;
