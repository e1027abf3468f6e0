import type { AddedChannelCalls } from "../../../contract/object-calls.ts";
import type { AddedCalls, PartedChannelObject } from "../../../object/part.ts";
import { ReceiptsDriver, ReceiptsMapDriver, heldReceipts, ReceiptsMap } from "./receipts-driver.ts";
import { mapOf } from "../../maps/map-operations.ts";
import { mirrorOf, sourceOf } from "../../maps/mirror/mirror-name.ts";
import { mapSubscriptions } from "../../maps/map-commands.ts";
import type { SubscriptionType } from "../../../session/ports.ts";
import type { Feature } from "../../feature.ts";
import { resolveChannel } from "../../../channel/channel-name.ts";
import { refuse } from "../../../session/decision.ts";
import { callerOf } from "../../../session/grant.ts";
import { maySeeMarks } from "../may.ts";
import { ChannelCursors } from "../channel-cursors.ts";
import { receiptsCallers } from "../calls.ts";
import { receiptsPrefix } from "./config.ts";
import { ReceiptsSource } from "./receipts-source.ts";

type ReceiptsCalls = Pick<AddedChannelCalls, "receiptsTold" | "listReceipts">;

/** The calls between the object of a channel and that of its receipts. */
const receiptsCalls: AddedCalls<ReceiptsCalls, PartedChannelObject> = {
  receiptsTold: {
    answer(object, [told], done) {
      object.happened("presence");
      const driver = object.part(ReceiptsMapDriver);
      if (driver === undefined) done({ outcome: "left" });
      else driver.told(told, done);
    },
  },
  listReceipts: {
    answer(object, [{ receipts }], done) {
      object.happened("presence");
      const driver = object.part(ReceiptsDriver);
      if (driver === undefined) done({ outcome: "none" });
      else driver.list(receipts, done);
    },
  },
};

/** Subscriptions to receipts: to maps, for clients that may see what the users of the other channel have read. */
const receiptsSubscriptions: SubscriptionType = {
  ...mapSubscriptions,
  dependence: {
    dependentOf: (channel, config) => mirrorOf(channel, receiptsPrefix, config),
    baseOf: (channel, config) => sourceOf(channel, receiptsPrefix, config),
    refuse: (client, channel) => {
      const { channel: config } = client.context.config;
      const shown = sourceOf(channel, receiptsPrefix, config) ?? "";
      const found = resolveChannel(shown, config);
      const known = found.outcome === "resolved" ? found : undefined;
      const may = maySeeMarks(known, callerOf(client, shown));
      return may.allowed ? undefined : refuse(may);
    },
  },
};

/** Receipts: maps of what the users of another channel have read. They need cursors and maps. */
export const receipts = {
  subscriptionTypes: { map_receipts: receiptsSubscriptions },
  channelCalls: receiptsCalls,
  callers: receiptsCallers,
  ofChannel: (channel, { nowMs }, config) => {
    const map = mapOf(channel);
    const shown = map && sourceOf(channel.name, receiptsPrefix, config.channel);
    if (map === undefined || shown === undefined) return [];
    const keyTtlMs = channel.options.map?.keyTtlMs ?? 0;
    return [new ReceiptsMap(map, shown, { keyTtlMs, isHeld: () => channel.isHeld, nowMs })];
  },
  ofChannelObject: (object) => {
    const { channel, config, platform } = object;
    const map = channel.parts.find((part) => part instanceof ReceiptsMap);
    if (map !== undefined) return [new ReceiptsMapDriver(object, map), heldReceipts];
    const receiptsChannel = mirrorOf(channel.name, receiptsPrefix, config.channel);
    const cursors = channel.parts.find((part) => part instanceof ChannelCursors);
    if (cursors === undefined || receiptsChannel === undefined) return [];
    const { kept } = cursors;
    const source = new ReceiptsSource(kept.marks, () => cursors.top(platform.nowMs()));
    kept.watcher = source;
    return [new ReceiptsDriver(object, source, receiptsChannel)];
  },
  ofGateway: () => [heldReceipts],
} as const satisfies Feature;
