import { describe, expect, it } from "vitest";
import { homeName } from "../../../src/contract/object-names.ts";
import type { WorldClient } from "./client.ts";
import { smooth } from "./network.ts";
import { PlannedOutcomes } from "./planned-outcomes.ts";
import { UserBackend } from "./user-backend.ts";
import { quietWorlds } from "./quiet-worlds.ts";
import type { World } from "./world.ts";

const channel = "keep:a";
const newWorld = quietWorlds();

/** Two clients of Ada's and one of Eve's, on two gateways and on the channel's own object. */
function usersWorld() {
  const outcomes = new PlannedOutcomes();
  const world = newWorld({
    channels: [channel],
    gateways: 2,
    hasHomes: true,
    chooseOutcome: outcomes.chooseOutcome,
  });
  const one = (user: string, place: "g/1" | "g/2" | "own"): WorldClient =>
    world.client({
      user,
      choosePlace: () => (place === "own" ? world.channel(channel) : world.gateway(place)),
    });
  const clients = [one("ada", "g/1"), one("ada", "own"), one("eve", "g/2")];
  for (const client of clients) {
    client.connect();
    client.subscribe(channel);
  }
  world.pass(1_000);
  const { users } = world;
  if (!(users instanceof UserBackend)) throw new Error("users have no homes");
  const home = world.homes.get(`home ${homeName("ada")}`);
  if (home === undefined) throw new Error("nobody registered Ada");
  return { world, outcomes, users, home, clients };
}

/** A publication, upon which a gateway whose last subscriber has left says so, and has to ask to follow again (rule L9). */
function tellThatNobodyIsLeft(world: World): void {
  world.backend.publish(channel, false);
  world.pass(100);
}

describe("a world in which users have homes", () => {
  it("[U1] carries a disconnect out on both objects, and on nobody else", () => {
    const { world, users, clients } = usersWorld();
    const before = clients.map(({ connected }) => connected?.id);
    users.disconnect("ada", {}, true);
    world.pass(1_000);
    const after = clients.map(({ connected }) => connected?.id);
    expect(after.map((id, index) => id === before[index])).toEqual([false, false, true]);
    expect(after).not.toContain(undefined);
  });

  it("[U3] goes on with an order after the home has crashed, by its alarm", () => {
    const { world, outcomes, users, home, clients } = usersWorld();
    const [first] = clients;
    outcomes.plan("carry out", {}, {});
    users.disconnect("ada", {}, false);
    world.pass(100);
    home.crash();
    world.pass(1_000);
    expect(first?.connected).toBeDefined();
    expect(home.keepsOrders).toBe(true);
    world.pass(10_000);
    expect(first?.connected).toBeUndefined();
    expect(home.keepsOrders).toBe(false);
  });

  it("[U7] [U35] subscribes clients, and recovers from the position that the order names", () => {
    const { world, users, clients } = usersWorld();
    const [first] = clients;
    first?.unsubscribe(channel, true);
    for (let count = 0; count < 3; count++) world.backend.publish(channel, false);
    world.pass(1_000);
    const { top } = world.channel(channel);
    const recoverSince = { epoch: top?.epoch ?? "", offset: 1 };
    const subscription = { channel, override: {} };
    users.order("ada", { method: "subscribe", subscription, expireAtSeconds: 0, recoverSince });
    world.pass(1_000);
    expect(first?.subscription(channel).isOrdered).toBe(true);
    expect(first?.subscription(channel).received).toHaveLength(2);
  });

  it("[U9] lets a blocked user in again when the block is over", () => {
    const { world, users, clients } = usersWorld();
    const [first] = clients;
    users.block("ada", undefined);
    world.pass(1_000);
    first?.connect();
    world.pass(1_000);
    expect(first?.connected).toBeUndefined();
    users.order("ada", { method: "unblock_user" });
    world.pass(1_000);
    first?.connect();
    world.pass(1_000);
    expect(first?.connected).toBeDefined();
  });

  it("[U31] doesn't forget an object on which a connection begins while an order is carried out", () => {
    const { world, outcomes, users, clients } = usersWorld();
    const [first] = clients;
    first?.unsubscribe(channel, true);
    tellThatNobodyIsLeft(world);
    outcomes.plan("ask", { requestMs: 3_000, answerMs: 5 });
    const subscription = { channel, override: {} };
    users.order("ada", { method: "subscribe", subscription, expireAtSeconds: 0 });
    world.pass(100);
    const second = world.client({ user: "ada" });
    second.connect();
    world.pass(100);
    first?.disconnect();
    world.pass(5_000);
    users.disconnect("ada", {}, false);
    world.pass(1_000);
    expect(second.connected).toBeUndefined();
  });

  it("[U9] closes a connection that begins while an order before the block is carried out", () => {
    const { world, outcomes, users, clients } = usersWorld();
    const [first] = clients;
    first?.unsubscribe(channel, true);
    tellThatNobodyIsLeft(world);
    // The gateway gets both orders in one call, the repeated one: each call to it comes after one to the other holder.
    outcomes.plan("carry out", smooth, { errorMs: 100 }, smooth, {});
    outcomes.plan("ask", { requestMs: 3_000, answerMs: 5 });
    const subscription = { channel, override: {} };
    users.order("ada", { method: "subscribe", subscription, expireAtSeconds: 0 });
    users.block("ada", undefined);
    world.pass(1_000);
    const second = world.client({ user: "ada" });
    second.connect();
    world.pass(100);
    expect(second.connected).toBeDefined();
    world.pass(8_000);
    expect(second.connected).toBeUndefined();
  });
});
