import { describe, expect, it } from "vitest";
import { limits } from "../../../src/limits.ts";
import { clientAddress } from "../../../workers/http/client-address.ts";
import { NewChannels } from "../../../workers/http/client-address.ts";

const nowMs = 1_700_000_000_000;
const { addressChannelsBurst: burst, addressChannelsPerSecond: perSecond } = limits;

/** How many of so many new channels a client is admitted to. */
function admitted(channels: NewChannels, address: string | undefined, count: number, atMs = nowMs) {
  let number = 0;
  for (let index = 0; index < count; index++)
    if (channels.admits(`${String(address)}-${atMs}-${index}`, [address], atMs)) number++;
  return number;
}

describe("new channels of one address", () => {
  it("[B18] are bounded at once, and by the second from then on", () => {
    const channels = new NewChannels();
    expect(admitted(channels, "192.0.2.1", 2 * burst)).toBe(burst);
    expect(admitted(channels, "192.0.2.1", burst, nowMs + 2_000)).toBe(2 * perSecond);
    expect(admitted(channels, "192.0.2.2", burst)).toBe(burst);
  });

  it("[B18] are bounded of one user or token, too, whatever its addresses", () => {
    const channels = new NewChannels();
    const admits = (index: number, user: string) =>
      channels.admits(`c${index}`, [`address ${index}`, user], nowMs);
    for (let index = 0; index < burst; index++) expect(admits(index, "user 1")).toBe(true);
    expect(admits(burst, "user 1")).toBe(false);
    expect(admits(burst, "user 2")).toBe(true);
  });

  it("[B18] don't include a channel that is known to exist", () => {
    const channels = new NewChannels();
    channels.exists("news");
    admitted(channels, "192.0.2.1", burst);
    expect(channels.admits("other", ["192.0.2.1"], nowMs)).toBe(false);
    expect(channels.admits("news", ["192.0.2.1"], nowMs)).toBe(true);
  });

  it("[B18] aren't bounded where the address isn't known", () => {
    expect(admitted(new NewChannels(), undefined, 3 * burst)).toBe(3 * burst);
  });

  it.each([
    ["2001:db8:1:2::1", "2001:db8:1:2:aaaa:bbbb:cccc:dddd", true],
    ["2001:db8::1", "2001:db8:0:0:9::1", true],
    ["2001:db8:1:2::1", "2001:db8:1:3::1", false],
    ["::1", "::2", true],
    ["::ffff:192.0.2.1", "::ffff:192.0.2.2", false],
  ])("[B18] %s and %s count as one address: %s", (one, other, same) => {
    const [first, second] = [one, other].map((address) =>
      clientAddress(new Headers({ "X-Real-IP": address }), "X-Real-IP"),
    );
    expect(first === second).toBe(same);
  });

  it("[B1] [B18] forget the channel and the address that weren't used for longest", () => {
    const channels = new NewChannels();
    admitted(channels, "192.0.2.1", burst);
    channels.exists("news");
    for (let index = 0; index < limits.channelsRememberedMax; index++) channels.exists(`c${index}`);
    expect(channels.admits("news", ["192.0.2.1"], nowMs)).toBe(false);
    for (let index = 0; index < limits.addressesRememberedMax; index++)
      channels.admits("x", [`a${index}`], nowMs);
    expect(channels.admits("news", ["192.0.2.1"], nowMs)).toBe(true);
  });
});

it("[B18] the client's address comes from the header that is set, if one is", () => {
  const headers = new Headers({ "X-Real-IP": "192.0.2.1", "X-Long": "1".repeat(65) });
  expect(clientAddress(headers, "x-real-ip")).toBe("192.0.2.1");
  for (const name of ["", "CF-Connecting-IP", "X-Long"])
    expect(clientAddress(headers, name)).toBeUndefined();
});
