import { describe, expect, it } from "vitest";
import { limits } from "../../../src/limits.ts";
import { Listing } from "../../../src/users/listing.ts";

/** An object whose directory answers when a test says so. */
class ListedObject {
  wasListed = false;
  connected = true;
  readonly calls: ((isListed: boolean) => void)[] = [];
  readonly listing = new Listing({
    wasListed: () => this.wasListed,
    hasConnections: () => this.connected,
    list: (done) => this.calls.push(done),
  });

  /** Answers the oldest call. */
  answer(isListed: boolean): void {
    const call = this.calls.shift();
    if (call === undefined) throw new Error("the directory wasn't called");
    call(isListed);
  }
}

describe("an object that the directory is to list", () => {
  it("[U22] calls it once, when a client has connected", () => {
    const object = new ListedObject();
    object.connected = false;
    object.listing.check(1_000);
    expect(object.calls).toHaveLength(0);
    object.connected = true;
    object.listing.check(1_000);
    object.listing.check(1_000);
    expect(object.calls).toHaveLength(1);
    expect(object.listing.listed).toBe(false);
    object.answer(true);
    object.listing.check(1_000);
    expect([object.listing.listed, object.calls.length]).toStrictEqual([true, 0]);
  });

  it("[U22] doesn't call it again after hibernation", () => {
    const object = new ListedObject();
    object.wasListed = true;
    object.listing.check(1_000);
    expect([object.listing.listed, object.calls.length]).toStrictEqual([true, 0]);
  });

  it("[U22] calls it again after a pause, if it didn't answer", () => {
    const object = new ListedObject();
    object.listing.check(1_000);
    object.answer(false);
    object.listing.check(1_000 + limits.listRetryMs - 1);
    expect(object.calls).toHaveLength(0);
    object.listing.check(1_000 + limits.listRetryMs);
    object.answer(true);
    expect(object.listing.listed).toBe(true);
  });

  it("[U22] [U40] calls it anew after it was forgotten, whatever the call before comes to", () => {
    const object = new ListedObject();
    object.listing.check(1_000);
    object.listing.forgotten();
    object.listing.check(1_000);
    expect(object.calls).toHaveLength(2);
    object.answer(true);
    expect(object.listing.listed).toBe(false);
    object.answer(true);
    expect(object.listing.listed).toBe(true);
    object.listing.forgotten();
    object.listing.check(1_000);
    expect(object.calls).toHaveLength(1);
  });
});
