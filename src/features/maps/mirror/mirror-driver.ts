import { limits } from "../../../limits.ts";
import type { ObjectPart, PartedChannelObject } from "../../../object/part.ts";
import type { MirrorChange, MirrorList, MirrorMap, MirrorToldReply } from "./mirror-map.ts";

/** Lets the object of a mirror ask its source's object, and take the reported changes: `MirrorMap` decides when. */
export class MirrorDriver<Item> implements ObjectPart {
  readonly #object: PartedChannelObject;
  readonly #mirror: MirrorMap<Item>;
  readonly #ask: AskSource<Item>;

  /** @param ask calls the source's object */
  constructor(object: PartedChannelObject, mirror: MirrorMap<Item>, ask: AskSource<Item>) {
    this.#object = object;
    this.#mirror = mirror;
    this.#ask = ask;
  }

  settle(nowMs: number): void {
    if (this.#mirror.begins(nowMs)) this.#count();
  }

  ring(nowMs: number): void {
    this.#mirror.ring(nowMs);
  }

  dueAtMs(nowMs: number): number {
    return this.#mirror.dueAtMs(nowMs);
  }

  /**
   * Takes the changes that the object of a channel reports, as a job.
   *
   * @param source  that channel
   * @param changes the reported changes
   * @param edition as for `MirrorMap.takes`
   */
  take(
    source: string,
    changes: readonly MirrorChange<Item>[],
    edition: string | undefined,
    done: (reply: MirrorToldReply) => void,
  ): void {
    const { channel, queue, platform } = this.#object;
    if (source !== this.#mirror.source) {
      done({ outcome: "left" });
      return;
    }
    const job = (): MirrorToldReply => {
      const nowMs = platform.nowMs();
      return channel.hub.overloaded(nowMs) ? busy : this.#mirror.takes(changes, edition, nowMs);
    };
    queue.enqueue("publish", changes.length * changeBytes, job, (carriedOut) => {
      this.#object.endEvent(platform.nowMs());
      done(carriedOut.outcome === "done" ? carriedOut.result : busy);
    });
  }

  /** Makes a census, and applies it in slices, each of them a job. */
  #count(): void {
    const { platform, called, queue, later, endEvent } = this.#object;
    const mirror = this.#mirror;
    const slice = (): void =>
      queue.enqueue(
        "publish",
        sliceBytes,
        () => mirror.slice(platform.nowMs()),
        (carriedOut) => {
          if (carriedOut.outcome === "done" && carriedOut.result) endEvent(platform.nowMs());
          else later(0, slice);
        },
      );
    called();
    this.#ask((list) => {
      if (mirror.counted(list, platform.nowMs())) slice();
      else endEvent(platform.nowMs());
    });
  }
}

/** @param done takes what there is to be shown; undefined if the source's object didn't answer in time */
export type AskSource<Item> = (done: (list: MirrorList<Item> | undefined) => void) => void;

const busy = { outcome: "busy" } as const;

/** The memory of one reported change, in bytes, roughly. */
const changeBytes = 512;

const sliceBytes = limits.presenceSliceClients * changeBytes;
