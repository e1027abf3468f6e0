import { describe, expect, it } from "vitest";
import { limits } from "../../../src/limits.ts";
import { UnconnectedSockets } from "../../../src/object/unconnected-sockets.ts";

const { unconnectedMax: max, unconnectedPerAddressMax: perAddressMax } = limits;

/** Sockets are numbers here; the connected ones are in the set. */
function unconnectedSockets() {
  const connected = new Set<number>();
  return { connected, sockets: new UnconnectedSockets<number>((socket) => connected.has(socket)) };
}

/** Adds sockets with the numbers from `first` on, as long as there is room, and says how many. */
function fill(sockets: UnconnectedSockets<number>, first: number, address: (n: number) => string) {
  let count = 0;
  while (count < 2 * max && sockets.room(address(count)) === "room") {
    sockets.register(first + count, address(count));
    count++;
  }
  return count;
}

describe("the unconnected sockets of an object", () => {
  it("[B13] are bounded for one address, whatever comes from others", () => {
    const { sockets } = unconnectedSockets();
    expect(fill(sockets, 0, () => "192.0.2.1")).toBe(perAddressMax);
    expect(sockets.room("192.0.2.1")).toBe("too-many-of-address");
    expect(sockets.room("192.0.2.2")).toBe("room");
    expect(sockets.room("")).toBe("room");
    sockets.delete(3);
    expect(sockets.room("192.0.2.1")).toBe("room");
  });

  it.each<[string, (n: number) => string]>([
    ["of unknown addresses", () => ""],
    ["of many addresses", (n) => `192.0.2.${n % 100}`],
  ])("[B13] are bounded together: %s", (_, address) => {
    const { sockets } = unconnectedSockets();
    expect(fill(sockets, 0, address)).toBe(max);
    expect(sockets.room("198.51.100.1")).toBe("full");
    sockets.delete(3);
    expect(sockets.room("198.51.100.1")).toBe("room");
  });

  it("[B13] [B24] don't include those that have connected, or are gone", () => {
    const { sockets, connected } = unconnectedSockets();
    fill(sockets, 0, () => "192.0.2.1");
    connected.add(0).add(1);
    expect(fill(sockets, 1_000, () => "192.0.2.1")).toBe(2);
    sockets.delete(1_000);
    sockets.delete(1_000);
    sockets.delete(5_000);
    expect(fill(sockets, 2_000, () => "192.0.2.1")).toBe(1);
  });
});
