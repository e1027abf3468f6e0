import type { ChannelPart } from "../../channel/channel-part.ts";
import { audienceRows } from "./audience/audience-methods.ts";
import { cursorRows } from "./methods.ts";

/** On a channel whose namespace doesn't keep what users have got and read (rule CU9). */
export const noCursors: ChannelPart = {
  carryOut: ({ method }) =>
    method in cursorRows || method in audienceRows ? notAvailable : undefined,
};

/** On a channel whose namespace has no audience (rule CU21). */
export const noAudience: ChannelPart = {
  carryOut: ({ method }) => (method in audienceRows ? notAvailable : undefined),
};

const notAvailable = { outcome: "not-available" } as const;
