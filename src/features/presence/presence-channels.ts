import type { ChannelConfig } from "../../config/config.ts";
import type { PresenceKind } from "../../contract/relay-request.ts";
import { mirrorOf, sourceOf } from "../maps/mirror/mirror-name.ts";
import { presencePrefixes } from "./config.ts";

/** A presence map, or the channel whose subscribers it shows (rule Z36). */
export interface PresenceChannel {
  readonly kind: PresenceKind;
  readonly channel: string;
}

/** The presence maps of a channel: those whose names stand for channels of the right type. */
export function presenceMapsOf(name: string, config: ChannelConfig): readonly PresenceChannel[] {
  return kinds.flatMap((kind) => {
    const channel = mirrorOf(name, presencePrefixes[kind], config);
    return channel === undefined ? [] : [{ kind, channel }];
  });
}

/** The channel whose subscribers a presence map shows; undefined if the channel isn't one, or shows no channel. */
export function shownChannelOf(name: string, config: ChannelConfig): PresenceChannel | undefined {
  for (const kind of kinds) {
    const channel = sourceOf(name, presencePrefixes[kind], config);
    if (channel !== undefined) return { kind, channel };
  }
  return undefined;
}

const kinds = ["clients", "users"] as const;
