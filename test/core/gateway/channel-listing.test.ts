import { describe, expect, it } from "vitest";
import { ChannelListing } from "../../../src/gateway/channel-listing.ts";

/** Channels, of which each has as many subscribers as its number has digits. */
function channelsOf(count: number): Map<string, { readonly subscriberCount: number }> {
  const numbers = Array.from({ length: count }, (_, index) => String((index * 7_919) % count));
  return new Map(numbers.map((number) => [`news:${number}`, { subscriberCount: number.length }]));
}

describe("[U24] the channels of a gateway", () => {
  it("are the first ones by their names, however few are looked at at a time", () => {
    const channels = channelsOf(1_000);
    const query = { pattern: "news:*5", after: "news:2", limit: 20 };
    const whole = new ChannelListing(channels, query).next(2_000);
    expect(whole).toHaveLength(20);
    expect(whole?.[0]).toStrictEqual({ name: "news:205", subscribers: 3 });
    const listing = new ChannelListing(channels, query);
    let slices = 0;
    let found = listing.next(10);
    for (; found === undefined; found = listing.next(10)) slices++;
    expect(slices).toBe(100);
    expect(found).toStrictEqual(whole);
  });

  it("are told without those that have no subscriber, also if they come and go meanwhile", () => {
    const channels = channelsOf(30);
    channels.set("news:empty", { subscriberCount: 0 });
    const listing = new ChannelListing(channels, { pattern: "", after: "", limit: 100 });
    expect(listing.next(10)).toBeUndefined();
    const [first = ""] = channels.keys();
    channels.delete(first);
    channels.set("news:new", { subscriberCount: 4 });
    expect(listing.next(10)).toBeUndefined();
    const names = listing.next(100)?.map(({ name }) => name);
    expect(names).toContain("news:new");
    expect(names).not.toContain("news:empty");
  });
});
