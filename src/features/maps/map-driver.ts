import { NextTimer } from "../../object/alarm-schedule.ts";
import type { ObjectPart, PartedChannelObject } from "../../object/part.ts";
import type { ChannelMap } from "./channel-map.ts";

/** Ends the keys of a map when they are due, and writes an ephemeral map down once it is quiet (rules Z6 and Z11). */
export class MapDriver implements ObjectPart {
  readonly #map: ChannelMap;
  readonly #restTimer: NextTimer;

  constructor(map: ChannelMap, { platform, endEvent }: PartedChannelObject) {
    this.#map = map;
    this.#restTimer = new NextTimer(platform, () => {
      const nowMs = platform.nowMs();
      map.rest(nowMs);
      endEvent(nowMs);
    });
  }

  settle(nowMs: number): void {
    this.#restTimer.set(this.#map.restInMs(nowMs), nowMs);
  }

  ring(nowMs: number): void {
    this.#map.expire(nowMs);
  }
}
