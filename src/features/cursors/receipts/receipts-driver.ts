import type { ChannelMap } from "../../maps/channel-map.ts";
import { isKey } from "../../maps/map-call.ts";
import {
  type MirrorChange,
  type MirrorKey,
  MirrorMap,
  type MirrorTimes,
  type MirrorToldReply,
} from "../../maps/mirror/mirror-map.ts";
import { noPayload, parsePayloadObject, type Payload } from "../../../protocol/payload.ts";
import type { ReceiptKey, ReceiptsAnswer, ReceiptsTold } from "../calls.ts";
import { limits } from "../../../limits.ts";
import { NextTimer } from "../../../object/alarm-schedule.ts";
import { answerOf } from "../../../object/object-call.ts";
import type { ObjectPart, PartedChannelObject } from "../../../object/part.ts";
import { mapLimits } from "../../maps/limits.ts";
import { MirrorDriver } from "../../maps/mirror/mirror-driver.ts";
import type { MirrorTelling } from "../../maps/mirror/mirror-line.ts";
import type { ReceiptsSource } from "./receipts-source.ts";

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

/** Lists for the receipts of a channel what its users have read, and tells them of marks: `ReceiptsSource` decides when. */
export class ReceiptsDriver implements ObjectPart {
  readonly #object: PartedChannelObject;
  readonly #source: ReceiptsSource;
  readonly #receipts: string;
  readonly #timer: NextTimer;

  /** @param receipts the channel of the receipts */
  constructor(object: PartedChannelObject, source: ReceiptsSource, receipts: string) {
    this.#object = object;
    this.#source = source;
    this.#receipts = receipts;
    const { platform } = object;
    this.#timer = new NextTimer(platform, (nowMs) => object.endEvent(nowMs));
  }

  settle(nowMs: number): void {
    const { line } = this.#source;
    this.#source.checkEpoch();
    const telling = line.next(nowMs);
    if (telling !== undefined) this.#tell(telling);
    const dueAtMs = line.dueAtMs(nowMs);
    const isDue = dueAtMs !== Number.POSITIVE_INFINITY;
    this.#timer.set(isDue ? Math.max(0, dueAtMs - nowMs) : undefined, nowMs);
  }

  /** Lists what the receipts show, in slices, and tells them of later marks. */
  list(receipts: string, done: (answer: ReceiptsAnswer) => void): void {
    if (receipts !== this.#receipts) {
      done({ outcome: "none" });
      return;
    }
    const { platform, later, endEvent } = this.#object;
    this.#source.line.asked();
    const listSlice = (): void => {
      const list = this.#source.list();
      if (list === undefined) {
        later(0, listSlice);
        return;
      }
      endEvent(platform.nowMs());
      done(list);
    };
    listSlice();
  }

  #tell(telling: MirrorTelling<ReceiptKey>): void {
    const { channel, platform, called, endEvent } = this.#object;
    const { edition } = this.#source;
    const told: ReceiptsTold = { source: channel.name, edition, changes: telling.changes };
    called();
    platform.call("receiptsTold", this.#receipts, [told], limits.objectAnswerMs, (reply) => {
      const nowMs = platform.nowMs();
      this.#source.line.answered(telling, answerOf(reply)?.outcome ?? "failed", nowMs);
      endEvent(nowMs);
    });
  }
}

/** Has the object of receipts ask what the users of the other channel have read, and take what it is told. */
export class ReceiptsMapDriver extends MirrorDriver<ReceiptKey> {
  constructor(object: PartedChannelObject, map: ReceiptsMap) {
    super(object, map, (done) => {
      const question = [{ receipts: object.channel.name }] as const;
      object.platform.call(
        "listReceipts",
        map.source,
        question,
        mapLimits.mirrorCountMs,
        (reply) => {
          const answer = answerOf(reply);
          const list = answer?.outcome === "listed" ? answer : undefined;
          done(list && { items: list.keys, isComplete: true, edition: list.edition });
        },
      );
    });
  }

  /** Takes what the object of the channel has told whose receipts this is. */
  told({ source, edition, changes }: ReceiptsTold, done: (reply: MirrorToldReply) => void): void {
    this.take(source, changes.map(mirrorChange), edition, done);
  }
}

/** The subscriptions to receipts: they are counted for as long as they have subscribers. */
export const heldReceipts: ObjectPart = {
  awaitsEnd: ({ subscriptionType: type }) => type === "map_receipts",
};
