import { describe, expect, it } from "vitest";
import { json } from "../../test/core/api/channel-config.ts";
import { complaintsOf } from "./complaints.ts";
import { followedWorld } from "./followed-world.ts";
import { PlannedFates } from "./planned-fates.ts";
import { World } from "./world.ts";

describe.each(["keep:a", "none:a"])("a call of the relay, on %s", (name) => {
  it("[L1] is repeated when it was lost", () => {
    const { world, fates, listening, publish } = followedWorld(name);
    fates.plan("deliver", { errorMs: 1 });
    const first = publish();
    expect(listening.heard).toEqual([]);
    world.pass(1_000);
    expect(listening.heard).toEqual([first]);
    expect(complaintsOf(world)).toEqual([]);
  });

  it("[L1] is heard once when its answer was lost and it was repeated", () => {
    const { world, fates, listening, publish } = followedWorld(name);
    fates.plan("deliver", { requestMs: 5 });
    const first = publish();
    expect(listening.heard).toEqual([first]);
    const second = publish(20_000);
    expect(listening.heard).toEqual([first, second]);
    expect(complaintsOf(world)).toEqual([]);
  });

  it("[L1] is heard once when it was so late that it was repeated", () => {
    const { world, fates, listening, publish } = followedWorld(name);
    fates.plan("deliver", { requestMs: 15_000, answerMs: 5 });
    const first = publish(11_000);
    expect(listening.heard).toEqual([first]);
    const second = publish(11_000);
    expect(listening.heard).toEqual([first, second]);
    expect(listening.losses).toBe(0);
    expect(complaintsOf(world)).toEqual([]);
  });

  it("[L1] is heard once when the network repeats it, also after the gateway has slept", () => {
    const { world, fates, listening, publish } = followedWorld(name);
    fates.plan("deliver", { requestMs: 5, answerMs: 5, againMs: 20_000 });
    const heard = [publish(5_000), publish(5_000)];
    world.gateway("g1").evict();
    heard.push(publish(20_000));
    expect(listening.heard).toEqual(heard);
    expect(listening.losses).toBe(0);
    expect(complaintsOf(world)).toEqual([]);
  });

  it("[L1] is heard once when later ones overtook it", () => {
    const { world, fates, listening, publish } = followedWorld(name);
    fates.plan("deliver", { requestMs: 13_000, answerMs: 5 });
    // The second shares the call that is made once the first one is given up.
    const heard = [publish(8_000), publish(4_500)];
    expect(listening.heard).toEqual(heard);
    world.gateway("g1").evict();
    heard.push(publish(5_000));
    expect(listening.heard).toEqual(heard);
    expect(complaintsOf(world)).toEqual([]);
  });

  it("[L2] is made one at a time, and what happens meanwhile shares the next one", () => {
    const { world, fates, listening, publish } = followedWorld(name);
    fates.plan("deliver", { requestMs: 5, answerMs: 2_000 });
    const heard = [publish(), publish(), publish()];
    expect(listening.heard).toEqual(heard.slice(0, 1));
    world.pass(3_000);
    expect(listening.heard).toEqual(heard);
    expect(complaintsOf(world)).toEqual([]);
  });
});

describe.each(["keep:a", "none:a"])("objects that come and go, on %s", (name) => {
  it("[L7] a gateway that sleeps between publications misses none and repeats none", () => {
    const { world, listening, publish } = followedWorld(name);
    const heard: string[] = [];
    for (let times = 0; times < 3; times++) {
      world.gateway("g1").evict();
      heard.push(publish(), publish());
    }
    expect(listening.heard).toEqual(heard);
    expect(listening.losses).toBe(0);
    expect(complaintsOf(world)).toEqual([]);
  });

  it("[L5] a gateway whose sockets close is forgotten, and its clients go on elsewhere", () => {
    const { world, listening, publish } = followedWorld(name);
    const before = publish();
    world.gateway("g1").close();
    world.pass(2_000);
    const after = publish(1_000);
    expect(listening.heard).toEqual([before, after]);
    expect(complaintsOf(world)).toEqual([]);
  });

  it("[L5] a gateway that crashes is forgotten, and its clients recover on another one", () => {
    const { world, fates, client, publish } = followedWorld(name);
    client.disconnect();
    world.pass(100);
    const moved = world.client({ name: "moved", choosePlace: () => world.gateway(gateway) });
    let gateway = "g1";
    moved.connect();
    moved.subscribe(name);
    world.pass(100);
    gateway = "g2";
    const heard = [publish()];
    world.gateway("g1").crash();
    fates.plan("deliver", { errorMs: 1 });
    const missed = publish();
    // What isn't kept is lost with the connection.
    if (name.startsWith("keep:")) heard.push(missed);
    world.pass(1_000);
    heard.push(publish());
    expect(moved.listening(name).heard).toEqual(heard);
    expect(world.channel(name).gateways).toEqual(["g2"]);
    expect(complaintsOf(world)).toEqual([]);
  });

  it("[L5] a channel whose memory is cold knows who follows it", () => {
    const { world, listening, publish } = followedWorld(name);
    const first = publish();
    world.channel(name).evict();
    const second = publish();
    world.channel(name).evict();
    world.gateway("g1").evict();
    const third = publish();
    expect(listening.heard).toEqual([first, second, third]);
    expect(complaintsOf(world)).toEqual([]);
  });

  it("[L1] a late call of a crashed life of the channel's object is no news", () => {
    const { world, fates, listening, publish } = followedWorld(name);
    const heard = [publish()];
    fates.plan("deliver", { requestMs: 5, answerMs: 5, againMs: 9_000 });
    heard.push(publish());
    world.channel(name).crash();
    heard.push(publish(), publish());
    world.pass(10_000);
    heard.push(publish());
    expect(listening.heard).toEqual(heard);
    expect(complaintsOf(world)).toEqual([]);
  });
});

describe("a channel with history", () => {
  it("[L4] that crashes between commit and delivery tells its gateways within 8 s", () => {
    const { world, listening, publish } = followedWorld("keep:a");
    const heard = [publish(60_000)];
    world.channel("keep:a").crashesAtCommit = true;
    heard.push(publish(7_000));
    expect(listening.heard).toEqual(heard.slice(0, 1));
    world.pass(1_200);
    expect(listening.heard).toEqual(heard);
    expect(complaintsOf(world)).toEqual([]);
  });

  it("[L4] tells them also when it crashes with a call under way that was lost", () => {
    const { world, fates, listening, publish } = followedWorld("keep:a");
    fates.plan("deliver", {});
    const heard = [publish()];
    world.channel("keep:a").crash();
    world.pass(8_200);
    expect(listening.heard).toEqual(heard);
    expect(complaintsOf(world)).toEqual([]);
  });

  it("[L3] that has lost what a gateway missed makes it tell its subscribers, who go on from there", () => {
    const { world, fates, listening, publish } = followedWorld("few:a");
    const heard = [publish()];
    world.channel("few:a").crashesAtCommit = true;
    fates.plan("deliver", ...Array.from({ length: 5 }, () => ({ errorMs: 1 })));
    publish(30);
    for (let times = 0; times < 5; times++) publish(0);
    world.pass(1_000);
    world.channel("few:a").crash();
    world.pass(10_000);
    expect(listening.losses).toBe(1);
    heard.push(publish());
    expect(listening.heard).toEqual(heard);
    expect(complaintsOf(world)).toEqual([]);
  });

  it("[L4] isn't kept from telling a gateway by an old question of that gateway that comes late", () => {
    const { world, fates, listening, client, publish } = followedWorld("keep:a");
    client.unsubscribe("keep:a", false);
    world.pass(1_000);
    // Its object hears the question only after it gave up and asked again, and after the crash.
    fates.plan("ask", { requestMs: 12_000 });
    client.subscribe("keep:a");
    world.pass(10_500);
    world.channel("keep:a").crashesAtCommit = true;
    const missed = publish(12_000);
    expect(listening.heard).toEqual([missed]);
    expect(complaintsOf(world)).toEqual([]);
  });

  it("[L3] tells a gateway that something is missing when an old question of it seems to pass it over", () => {
    const { world, fates, listening, client, publish } = followedWorld("keep:a");
    client.unsubscribe("keep:a", false);
    world.pass(1_000);
    fates.plan("ask", { requestMs: 12_000 });
    client.subscribe("keep:a");
    world.pass(10_500);
    // Lost, and not yet known to be: then the gateway seems to follow from behind it.
    fates.plan("deliver", {});
    const missed = publish(12_000);
    expect(listening.heard).toEqual([missed]);
    expect(complaintsOf(world)).toEqual([]);
  });
});

describe("a gateway that misses something", () => {
  it("[L3] passes on what comes while it reads that, after it", () => {
    const { world, fates, listening, publish } = followedWorld("keep:a");
    world.channel("keep:a").crashesAtCommit = true;
    const heard = [publish()];
    // The next one shows that something is missing.
    fates.plan("ask", { requestMs: 5, answerMs: 2_000 });
    heard.push(publish(), publish(), publish());
    expect(listening.heard).toEqual([]);
    world.pass(3_000);
    expect(listening.heard).toEqual(heard);
    expect(listening.losses).toBe(0);
    expect(complaintsOf(world)).toEqual([]);
  });

  it("[L3] says so on a channel without history", () => {
    const { world, fates, listening, client, publish } = followedWorld("none:a");
    client.unsubscribe("none:a", false);
    world.pass(1_000);
    fates.plan("ask", { requestMs: 12_000 });
    client.subscribe("none:a");
    world.pass(11_500);
    fates.plan("deliver", {});
    publish(12_000);
    expect(listening.heard).toEqual([]);
    expect(listening.losses).toBe(1);
    expect(complaintsOf(world)).toEqual([]);
  });

  it("[L3] is told of what came between a call under way and an old question of it that came late", () => {
    const { world, fates, listening, client, publish } = followedWorld("keep:a");
    client.unsubscribe("keep:a", false);
    world.pass(1_000);
    fates.plan("ask", { requestMs: 12_000 });
    client.subscribe("keep:a");
    world.pass(11_000);
    fates.plan("deliver", { requestMs: 5, answerMs: 5_000 });
    const heard = [publish(), publish()];
    expect(listening.heard).toEqual(heard.slice(0, 1));
    world.pass(10_000);
    expect(listening.heard).toEqual(heard);
    expect(complaintsOf(world)).toEqual([]);
  });
});

describe("who publishes to what it is subscribed to", () => {
  it("[O6] and leaves and comes back at once, is answered in that order", () => {
    const { world, fates, client, listening, publish } = followedWorld("keep:a");
    // For another one the gateway follows the channel anyway, and needs to ask nothing.
    const other = world.client();
    other.connect();
    other.subscribe("keep:a");
    world.pass(1_000);
    fates.plan("ask", { requestMs: 5, answerMs: 3_000 });
    client.publish("keep:a");
    client.unsubscribe("keep:a", false);
    client.subscribe("keep:a");
    world.pass(1_000);
    const heard = ["c1-1", publish()];
    world.pass(3_000);
    expect(listening.heard).toEqual(heard);
    expect(complaintsOf(world)).toEqual([]);
  });

  it("[O4] hears its publication before the reply, however late the relay is", () => {
    const { world, fates, client, listening } = followedWorld("keep:a");
    fates.plan("deliver", { requestMs: 3_000, answerMs: 5 });
    client.publish("keep:a");
    world.pass(2_900);
    expect(client.unanswered).toBe(1);
    world.pass(200);
    expect(client.unanswered).toBe(0);
    expect(listening.heard).toEqual(["c1-1"]);
    expect(complaintsOf(world)).toEqual([]);
  });

  it("[O4] hears it before the reply also when another life of the channel's object tells of it", () => {
    const { world, fates, client, listening } = followedWorld("keep:a");
    fates.plan("deliver", {});
    client.publish("keep:a");
    world.pass(100);
    world.channel("keep:a").crash();
    world.pass(9_000);
    expect(listening.heard).toEqual(["c1-1"]);
    expect(client.unanswered).toBe(0);
    expect(complaintsOf(world)).toEqual([]);
  });

  it("[O4] hears that the stream is lost before the reply, if its publication is lost with it", () => {
    const { world, fates, client, listening } = followedWorld("few:a");
    fates.plan("deliver", ...Array.from({ length: 6 }, () => ({ errorMs: 1 })));
    client.publish("few:a");
    world.pass(50);
    for (let times = 0; times < 5; times++) world.backend.publish("few:a", false);
    world.pass(200);
    world.backend.removeHistory("few:a");
    world.channel("few:a").crashesAtCommit = true;
    world.pass(9_000);
    expect(listening.losses).toBe(1);
    expect(client.unanswered).toBe(0);
    expect(complaintsOf(world)).toEqual([]);
  });
});

describe("a gateway that asks a channel", () => {
  it("[O6] asks again, once, what may not have been heard", () => {
    const { world, fates, client, listening, publish } = followedWorld("keep:a");
    client.unsubscribe("keep:a", false);
    const missed = publish();
    fates.plan("ask", { requestMs: 5, errorMs: 20 });
    client.subscribe("keep:a");
    world.pass(100);
    expect(listening.heard).toEqual([missed]);
    expect(complaintsOf(world)).toEqual([]);
  });

  it("[O3] joins what it reads for who subscribes with what it is told meanwhile", () => {
    const { world, fates, client, listening, publish } = followedWorld("keep:a");
    client.unsubscribe("keep:a", false);
    world.pass(1_000);
    const heard = [publish()];
    // The channel counts it among its gateways long before it hears that, and what it asked to read.
    fates.plan("ask", { requestMs: 5, answerMs: 3_000 });
    client.subscribe("keep:a");
    world.pass(100);
    heard.push(publish(), publish());
    expect(listening.heard).toEqual([]);
    world.pass(3_000);
    expect(listening.heard).toEqual(heard);
    expect(complaintsOf(world)).toEqual([]);
  });

  it("[L6] joins what it reads for one who comes back with what the others hear meanwhile", () => {
    const { world, fates, listening, publish } = followedWorld("keep:a");
    const back = world.client();
    back.connect();
    back.subscribe("keep:a");
    world.pass(1_000);
    back.unsubscribe("keep:a", false);
    const heard = [publish(), publish()];
    fates.plan("ask", { requestMs: 5, answerMs: 3_000 });
    back.subscribe("keep:a");
    world.pass(100);
    heard.push(publish(), publish());
    expect(listening.heard).toEqual(heard);
    world.pass(3_000);
    expect(back.listening("keep:a").heard).toEqual(heard);
    expect(back.listening("keep:a").failedRecoveries).toBe(0);
    expect(complaintsOf(world)).toEqual([]);
  });

  it("[L7] tells its subscribers that they lost the stream when nothing could be noted of it before it slept", () => {
    const fates = new PlannedFates();
    const noted = Array.from({ length: 120 }, (_, index) => `none:${index}`);
    const world = new World({ channels: [...noted, "keep:z"], gateways: 1, fateOf: fates.fateOf });
    // With so much to say of itself, and so many channels, its attachment has no room for another position.
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
    const heard = [publish()];
    world.gateway("g1").evict();
    heard.push(publish());
    expect(client.listening("keep:z").losses).toBe(0);
    // The gateway hears it, and the channel doesn't know whether it did.
    fates.plan("deliver", { requestMs: 5 });
    world.gateway("g1").evict();
    heard.push(publish());
    world.gateway("g1").evict();
    world.channel("keep:z").crash();
    heard.push(publish());
    world.pass(5_000);
    expect(client.listening("keep:z").losses).toBe(1);
    expect(client.listening("keep:z").heard).toEqual(heard);
    expect(complaintsOf(world)).toEqual([]);
  });
});
