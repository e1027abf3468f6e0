import type { ChannelMap } from "../../maps/channel-map.ts";
import { isKey } from "../../maps/map-call.ts";
import {
  type MirrorChange,
  type MirrorKey,
  MirrorMap,
  type MirrorTimes,
} from "../../maps/mirror/mirror-map.ts";
import { noPayload, parsePayloadObject, type Payload } from "../../../protocol/payload.ts";
import type { ReceiptKey } from "./receipts-call.ts";

/**
 * The keys of receipts: what the users of another channel have read of it (rules CU36 to CU39). It is a mirror, whose
 * source's object lists the marks, and tells which go forward.
 */
export class ReceiptsMap extends MirrorMap<ReceiptKey> {
  /** @param shown the other channel */
  constructor(map: ChannelMap, shown: string, times: MirrorTimes) {
    super(map, shown, { ...times, keyOf, isOlder, hidesAtOnce: () => true });
  }
}

/** A reported key, as a change of the mirror. */
export function mirrorChange(item: ReceiptKey): MirrorChange<ReceiptKey> {
  return { isGone: item.data === undefined, item };
}

/** A user whose ID is no key isn't shown. */
function keyOf({ key, data }: ReceiptKey): MirrorKey | undefined {
  return isKey(key) ? { key, data: data ?? noPayload() } : undefined;
}

/** Whether a user had read less of the epoch by then (rule CU43). A user who was forgotten may begin anew, later. */
function isOlder(told: Payload, shown: Payload): boolean {
  const [before, after] = [parsePayloadObject(told), parsePayloadObject(shown)];
  return (
    before?.["epoch"] === after?.["epoch"] &&
    Number(before?.["read"]) < Number(after?.["read"]) &&
    Number(before?.["at_ms"]) <= Number(after?.["at_ms"])
  );
}
