import { describe, expect, it } from "vitest";
import { json } from "../../core/api/channel-config.ts";
import { followedWorld, type FollowedWorld } from "./followed-world.ts";
import { quietWorlds } from "./quiet-worlds.ts";
import { PlannedOutcomes } from "./planned-outcomes.ts";

const newWorld = quietWorlds();
const followed = (channel: string): FollowedWorld => followedWorld(channel, newWorld);

describe.each(["keep:a", "none:a"])("a call of the relay, on %s", (name) => {
  it("[L1] is repeated when it was lost", () => {
    const { world, outcomes, subscription, publish } = followed(name);
    outcomes.plan("deliver", { errorMs: 1 });
    const first = publish();
    expect(subscription.received).toEqual([]);
    world.pass(1_000);
    expect(subscription.received).toEqual([first]);
  });

  it("[L1] takes effect once when its answer was lost and it was repeated", () => {
    const { outcomes, subscription, publish } = followed(name);
    outcomes.plan("deliver", { requestMs: 5 });
    const first = publish();
    expect(subscription.received).toEqual([first]);
    const second = publish(20_000);
    expect(subscription.received).toEqual([first, second]);
  });

  it("[L1] takes effect once when it was so late that it was repeated", () => {
    const { outcomes, subscription, publish } = followed(name);
    outcomes.plan("deliver", { requestMs: 15_000, answerMs: 5 });
    const first = publish(11_000);
    expect(subscription.received).toEqual([first]);
    const second = publish(11_000);
    expect(subscription.received).toEqual([first, second]);
    expect(subscription.losses).toBe(0);
  });

  it("[L1] takes effect once when the network repeats it, also after the gateway's hibernation", () => {
    const { world, outcomes, subscription, publish } = followed(name);
    outcomes.plan("deliver", { requestMs: 5, answerMs: 5, againMs: 20_000 });
    const received = [publish(5_000), publish(5_000)];
    world.gateway("g/1").evict();
    received.push(publish(20_000));
    expect(subscription.received).toEqual(received);
    expect(subscription.losses).toBe(0);
  });

  it("[L1] takes effect once when later calls overtook it", () => {
    const { world, outcomes, subscription, publish } = followed(name);
    outcomes.plan("deliver", { requestMs: 13_000, answerMs: 5 });
    // The second publish shares the call that follows once the first call is given up.
    const received = [publish(8_000), publish(4_500)];
    expect(subscription.received).toEqual(received);
    world.gateway("g/1").evict();
    received.push(publish(5_000));
    expect(subscription.received).toEqual(received);
  });

  it("[L2] is the only one in flight, and the entries that come meanwhile share the next one", () => {
    const { world, outcomes, subscription, publish } = followed(name);
    outcomes.plan("deliver", { requestMs: 5, answerMs: 2_000 });
    const received = [publish(), publish(), publish()];
    expect(subscription.received).toEqual(received.slice(0, 1));
    world.pass(3_000);
    expect(subscription.received).toEqual(received);
  });
});

describe.each(["keep:a", "none:a"])("objects that hibernate and crash, on %s", (name) => {
  it("[L7] a gateway that hibernates between publications misses none and repeats none", () => {
    const { world, subscription, publish } = followed(name);
    const received: string[] = [];
    for (let times = 0; times < 3; times++) {
      world.gateway("g/1").evict();
      received.push(publish(), publish());
    }
    expect(subscription.received).toEqual(received);
    expect(subscription.losses).toBe(0);
  });

  it("[L5] a gateway whose sockets close is forgotten, and its clients continue on another one", () => {
    const { world, subscription, publish } = followed(name);
    const before = publish();
    world.gateway("g/1").close();
    world.pass(2_000);
    const after = publish(1_000);
    expect(subscription.received).toEqual([before, after]);
  });

  it("[L5] a gateway that crashes is forgotten, and its clients recover on another one", () => {
    const { world, outcomes, client, publish } = followed(name);
    client.disconnect();
    world.pass(100);
    const moved = world.client({ name: "moved", choosePlace: () => world.gateway(gateway) });
    let gateway = "g/1";
    moved.connect();
    moved.subscribe(name);
    world.pass(100);
    gateway = "g/2";
    const received = [publish()];
    world.gateway("g/1").crash();
    outcomes.plan("deliver", { errorMs: 1 });
    const missed = publish();
    // Without history, publications are lost with the connection.
    if (name.startsWith("keep:")) received.push(missed);
    world.pass(1_000);
    received.push(publish());
    expect(moved.subscription(name).received).toEqual(received);
    expect(world.channel(name).gateways).toEqual(["g/2"]);
  });

  it("[L5] a channel object without memory knows its gateways", () => {
    const { world, subscription, publish } = followed(name);
    const first = publish();
    world.channel(name).evict();
    const second = publish();
    world.channel(name).evict();
    world.gateway("g/1").evict();
    const third = publish();
    expect(subscription.received).toEqual([first, second, third]);
  });

  it("[L1] a late call of a crashed instance of the channel object has no effect", () => {
    const { world, outcomes, subscription, publish } = followed(name);
    const received = [publish()];
    outcomes.plan("deliver", { requestMs: 5, answerMs: 5, againMs: 9_000 });
    received.push(publish());
    world.channel(name).crash();
    received.push(publish(), publish());
    world.pass(10_000);
    received.push(publish());
    expect(subscription.received).toEqual(received);
  });
});

describe("a channel with history", () => {
  it("[L4] that crashes between commit and delivery informs its gateways within 8 s", () => {
    const { world, subscription, publish } = followed("keep:a");
    const received = [publish(60_000)];
    world.channel("keep:a").crashesAtCommit = true;
    received.push(publish(7_000));
    expect(subscription.received).toEqual(received.slice(0, 1));
    world.pass(1_200);
    expect(subscription.received).toEqual(received);
  });

  it("[L4] informs them also when it crashes while a lost call is in flight", () => {
    const { world, outcomes, subscription, publish } = followed("keep:a");
    outcomes.plan("deliver", {});
    const received = [publish()];
    world.channel("keep:a").crash();
    world.pass(8_200);
    expect(subscription.received).toEqual(received);
  });

  it("[L3] that can't give a gateway the missed publications causes signals to its subscribers, which then continue", () => {
    const { world, outcomes, subscription, publish } = followed("few:a");
    const received = [publish()];
    world.channel("few:a").crashesAtCommit = true;
    outcomes.plan("deliver", ...Array.from({ length: 5 }, () => ({ errorMs: 1 })));
    publish(30);
    for (let times = 0; times < 5; times++) publish(0);
    world.pass(1_000);
    world.channel("few:a").crash();
    world.pass(10_000);
    expect(subscription.losses).toBe(1);
    received.push(publish());
    expect(subscription.received).toEqual(received);
  });

  it("[L4] informs a gateway although an old request of that gateway arrives late", () => {
    const { world, outcomes, subscription, client, publish } = followed("keep:a");
    client.unsubscribe("keep:a", false);
    // Upon which the gateway says that nobody is left (rule L9).
    const first = publish();
    world.pass(1_000);
    // The channel object gets the request only after the gateway gave up and asked again, and after the crash.
    outcomes.plan("ask", { requestMs: 12_000 });
    client.subscribe("keep:a");
    world.pass(10_500);
    world.channel("keep:a").crashesAtCommit = true;
    const missed = publish(12_000);
    expect(subscription.received).toEqual([first, missed]);
  });

  it("[L3] informs a gateway of missing entries although an old request of it seems to skip them", () => {
    const { world, outcomes, subscription, client, publish } = followed("keep:a");
    client.unsubscribe("keep:a", false);
    world.pass(1_000);
    outcomes.plan("ask", { requestMs: 12_000 });
    client.subscribe("keep:a");
    world.pass(10_500);
    // The delivery is lost, which isn't known yet: the gateway seems to follow from behind it.
    outcomes.plan("deliver", {});
    const missed = publish(12_000);
    expect(subscription.received).toEqual([missed]);
  });
});

describe("a channel whose clock was set back", () => {
  it("[L3] loses nothing, although its instances can't be ordered by their start times", () => {
    const { world, subscription, publish } = followed("keep:a");
    const received = [publish(1_000)];
    const channel = world.channel("keep:a");
    // The object moves to another machine, whose clock is a minute slow.
    channel.skewMs = -60_000;
    for (let times = 0; times < 3; times++) {
      channel.evict();
      received.push(publish(1_000));
      expect(subscription.received).toEqual(received);
    }
    expect(subscription.losses).toBe(0);
  });
});

describe("a gateway that misses entries", () => {
  it("[L3] passes on publications that come during its read after the missed ones", () => {
    const { world, outcomes, subscription, publish } = followed("keep:a");
    world.channel("keep:a").crashesAtCommit = true;
    const received = [publish()];
    // The next delivery shows that an entry is missing.
    outcomes.plan("ask", { requestMs: 5, answerMs: 2_000 });
    received.push(publish(), publish(), publish());
    expect(subscription.received).toEqual([]);
    world.pass(3_000);
    expect(subscription.received).toEqual(received);
    expect(subscription.losses).toBe(0);
  });

  it("[L3] signals it on a channel without history", () => {
    const { world, outcomes, subscription, client, publish } = followed("none:a");
    client.unsubscribe("none:a", false);
    world.pass(1_000);
    outcomes.plan("ask", { requestMs: 12_000 });
    client.subscribe("none:a");
    world.pass(11_500);
    outcomes.plan("deliver", {});
    publish(12_000);
    expect(subscription.received).toEqual([]);
    expect(subscription.losses).toBe(1);
  });

  it("[L3] gets the entries between a call in flight and its old request that arrived late", () => {
    const { world, outcomes, subscription, client, publish } = followed("keep:a");
    client.unsubscribe("keep:a", false);
    world.pass(1_000);
    outcomes.plan("ask", { requestMs: 12_000 });
    client.subscribe("keep:a");
    world.pass(11_000);
    outcomes.plan("deliver", { requestMs: 5, answerMs: 5_000 });
    const received = [publish(), publish()];
    expect(subscription.received).toEqual(received.slice(0, 1));
    world.pass(10_000);
    expect(subscription.received).toEqual(received);
  });
});

describe("a subscriber that publishes", () => {
  it("[O6] and unsubscribes and subscribes at once is answered in that order", () => {
    const { world, outcomes, client, subscription, publish } = followed("keep:a");
    // For another subscriber the gateway follows the channel anyway, and needs no request.
    const other = world.client();
    other.connect();
    other.subscribe("keep:a");
    world.pass(1_000);
    outcomes.plan("ask", { requestMs: 5, answerMs: 3_000 });
    client.publish("keep:a");
    client.unsubscribe("keep:a", false);
    client.subscribe("keep:a");
    world.pass(1_000);
    const received = ["c1-1", publish()];
    world.pass(3_000);
    expect(subscription.received).toEqual(received);
  });

  it("[O4] receives its publication before the reply, however late the relay is", () => {
    const { world, outcomes, client, subscription } = followed("keep:a");
    outcomes.plan("deliver", { requestMs: 3_000, answerMs: 5 });
    client.publish("keep:a");
    world.pass(2_900);
    expect(client.unanswered).toBe(1);
    world.pass(200);
    expect(client.unanswered).toBe(0);
    expect(subscription.received).toEqual(["c1-1"]);
  });

  it("[O4] receives it before the reply also from another instance of the channel object", () => {
    const { world, outcomes, client, subscription } = followed("keep:a");
    outcomes.plan("deliver", {});
    client.publish("keep:a");
    world.pass(100);
    world.channel("keep:a").crash();
    world.pass(9_000);
    expect(subscription.received).toEqual(["c1-1"]);
    expect(client.unanswered).toBe(0);
  });

  it("[O4] gets the signal of insufficient state before the reply if its publication is lost", () => {
    const { world, outcomes, client, subscription } = followed("few:a");
    outcomes.plan("deliver", ...Array.from({ length: 6 }, () => ({ errorMs: 1 })));
    client.publish("few:a");
    world.pass(50);
    for (let times = 0; times < 5; times++) world.backend.publish("few:a", false);
    world.pass(200);
    world.backend.removeHistory("few:a");
    world.channel("few:a").crashesAtCommit = true;
    world.pass(9_000);
    expect(subscription.losses).toBe(1);
    expect(client.unanswered).toBe(0);
  });
});

describe("a gateway that sends requests to a channel object", () => {
  it("[O6] repeats a request of unknown outcome once", () => {
    const { world, outcomes, client, subscription, publish } = followed("keep:a");
    client.unsubscribe("keep:a", false);
    const missed = publish();
    outcomes.plan("ask", { requestMs: 5, errorMs: 20 });
    client.subscribe("keep:a");
    world.pass(100);
    expect(subscription.received).toEqual([missed]);
  });

  it("[O3] merges a subscriber's read with the entries that arrive meanwhile", () => {
    const { world, outcomes, client, subscription, publish } = followed("keep:a");
    client.unsubscribe("keep:a", false);
    world.pass(1_000);
    const received = [publish()];
    // The channel object counts the gateway among its followers long before the gateway gets that reply and the
    // publications that it requested.
    outcomes.plan("ask", { requestMs: 5, answerMs: 3_000 });
    client.subscribe("keep:a");
    world.pass(100);
    received.push(publish(), publish());
    expect(subscription.received).toEqual([]);
    world.pass(3_000);
    expect(subscription.received).toEqual(received);
  });

  it("[L6] merges a returning client's read with the publications that the others receive meanwhile", () => {
    const { world, outcomes, subscription, publish } = followed("keep:a");
    const back = world.client();
    back.connect();
    back.subscribe("keep:a");
    world.pass(1_000);
    back.unsubscribe("keep:a", false);
    const received = [publish(), publish()];
    outcomes.plan("ask", { requestMs: 5, answerMs: 3_000 });
    back.subscribe("keep:a");
    world.pass(100);
    received.push(publish(), publish());
    expect(subscription.received).toEqual(received);
    world.pass(3_000);
    expect(back.subscription("keep:a").received).toEqual(received);
    expect(back.subscription("keep:a").failedRecoveries).toBe(0);
  });

  it("[L7] signals insufficient state to its subscribers if no cursor could be saved before its hibernation", () => {
    const outcomes = new PlannedOutcomes();
    const noted = Array.from({ length: 120 }, (_, index) => `none:${index}`);
    const world = newWorld({
      channels: [...noted, "keep:z"],
      gateways: 1,
      chooseOutcome: outcomes.chooseOutcome,
    });
    // With so much info and so many channels, the client's attachment has no space for another position.
    const client = world.client({ info: json(`"${"x".repeat(8_000)}"`) });
    client.connect();
    for (const channel of [...noted, "keep:z"]) {
      client.subscribe(channel);
      world.pass(50);
    }
    world.pass(10_000);
    const publish = (): string => {
      const data: string = JSON.parse(world.backend.publish("keep:z", false));
      world.pass(15_000);
      return data;
    };
    const received = [publish()];
    world.gateway("g/1").evict();
    received.push(publish());
    expect(client.subscription("keep:z").losses).toBe(0);
    // The gateway gets the entry, and the channel object doesn't know whether it did.
    outcomes.plan("deliver", { requestMs: 5 });
    world.gateway("g/1").evict();
    received.push(publish());
    world.gateway("g/1").evict();
    world.channel("keep:z").crash();
    received.push(publish());
    world.pass(5_000);
    expect(client.subscription("keep:z").losses).toBe(1);
    expect(client.subscription("keep:z").received).toEqual(received);
  });
});
