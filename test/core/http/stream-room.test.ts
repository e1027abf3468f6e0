import { describe, expect, it } from "vitest";
import { limits } from "../../../src/limits.ts";
import { StreamRoom } from "../../../workers/http/stream-buffer.ts";

const unlimited = Number.POSITIVE_INFINITY;
const mebibyte = 1_048_576;

/** Lets each of so many hold a mebibyte. */
function roomWith(count: number) {
  const room = new StreamRoom();
  const holders = Array.from({ length: count }, () => ({ waitingBytes: mebibyte }));
  for (const holder of holders) {
    room.enter(holder);
    room.took(holder.waitingBytes);
  }
  return { room, holders };
}

describe("the room that streams share", () => {
  const fitting = limits.streamsBytesMax / mebibyte;

  it("[B3][T3] isn't divided while there is enough of it", () => {
    expect(new StreamRoom().shareBytes).toBe(unlimited);
    expect(roomWith(fitting).room.shareBytes).toBe(unlimited);
  });

  it("[B3][T3] is divided among those who hold something once they hold too much", () => {
    const { room } = roomWith(fitting * 2);
    room.enter({ waitingBytes: 0 });
    expect(room.shareBytes).toBe(mebibyte / 2);
  });

  it("[B3] is counted anew before it is divided: most of what was held was read since", () => {
    const { room, holders } = roomWith(fitting * 2);
    for (const holder of holders) holder.waitingBytes = 10;
    expect(room.shareBytes).toBe(unlimited);
    room.took(limits.streamsBytesMax - 10 * holders.length);
    expect(room.shareBytes).toBe(unlimited);
  });
});
