import { describe, expect, it } from "vitest";
import { publish } from "../support/api-request.ts";
import { configure } from "../support/configure.ts";
import { newChannel } from "../support/new-channel.ts";
import { gatewayPlace, places } from "../support/place.ts";
import { Variant, variants } from "../support/variant.ts";
import { testConfig } from "../support/test-config.ts";
import type { TestSocket } from "../support/test-socket.ts";
import { token } from "../support/sign-token.ts";
import { awake, evicted } from "../support/object-state.ts";

configure({
  ...testConfig,
  client: {
    ...testConfig.client,
    subscribe_to_user_personal_channel: {
      enabled: true,
      personal_channel_namespace: "room",
      single_connection: true,
    },
  },
});

const replaced = { code: 3504, reason: "connection limit" };
const [first, second] = [gatewayPlace(0), gatewayPlace(1)];

describe.each([awake, evicted])("a user's personal channel, objects $name", (objectState) => {
  const [here, there] = [new Variant(first, objectState), new Variant(second, objectState)];

  /** The gateways of the region `home`, and the personal channel's object. */
  async function pause(home: string, personal: string): Promise<void> {
    const channel = places[0]?.holder(personal);
    if (channel === undefined) throw new Error("there is no place");
    await objectState.betweenSteps([first.holder(home), second.holder(home), channel]);
  }

  /** Connects and reads past the own join. */
  async function connect({ place }: Variant, home: string, user: string): Promise<TestSocket> {
    const socket = await (place === first ? here : there).connect(home, user);
    expect(await socket.line()).toContain('"join"');
    return socket;
  }

  it("[C10] comes in the connect reply and reaches no other connection", async () => {
    const [home, ada] = [newChannel(""), crypto.randomUUID()];
    const personal = `room:#${ada}`;
    const other = await connect(here, home, crypto.randomUUID());
    const socket = await here.open(home);
    await pause(home, personal);
    const { connect: reply } = await socket.ask({
      id: 1,
      connect: { token: await token({ sub: ada }) },
    });
    expect(reply?.subs).toStrictEqual({
      [personal]: { recoverable: true, epoch: expect.any(String), positioned: true },
    });
    expect(await socket.line()).toContain('"join"');
    await pause(home, personal);
    await publish(personal, "for ada");
    expect(await socket.line()).toContain('"data":"for ada"');
    expect(await other.unread()).toStrictEqual([]);
    await pause(home, personal);
  });

  it("[C10] closes the user's older connection with 3504, on the same gateway and on another one", async () => {
    const [home, ada] = [newChannel(""), crypto.randomUUID()];
    const personal = `room:#${ada}`;
    const bystander = await connect(here, home, crypto.randomUUID());
    const oldest = await connect(here, home, ada);
    await pause(home, personal);
    const older = await connect(there, home, ada);
    expect(await oldest.closed).toStrictEqual(replaced);
    await older.unread();
    await pause(home, personal);
    const newest = await connect(there, home, ada);
    expect(await older.closed).toStrictEqual(replaced);
    await newest.unread();
    await pause(home, personal);
    await publish(personal, 1);
    expect(await newest.unread()).toStrictEqual([expect.stringContaining('"data":1,"offset":1')]);
    expect(await bystander.unread()).toStrictEqual([]);
    await pause(home, personal);
  });

  it("[C10] leaves one of two connections that come at the same time", async () => {
    const [home, ada] = [newChannel(""), crypto.randomUUID()];
    const personal = `room:#${ada}`;
    const sockets = [await here.open(home), await there.open(home), await here.open(home)];
    await pause(home, personal);
    const signed = await token({ sub: ada });
    for (const socket of sockets) socket.send({ id: 1, connect: { token: signed } });
    // The last request that the channel object received stays.
    const left = new Set(sockets);
    for (let count = 1; count < sockets.length; count++) {
      const gone = await Promise.race([...left].map((socket) => socket.closed.then(() => socket)));
      expect(await gone.closed).toStrictEqual(replaced);
      left.delete(gone);
    }
    const [stays] = left;
    await stays?.unread();
    await pause(home, personal);
    await publish(personal, 1);
    expect(await stays?.line()).toContain('"data":1');
    await pause(home, personal);
  });
});

describe.each(variants)("a single connection for each user, the newer one on $name", (variant) => {
  it.each(places)("[C10] closes the older one on $name, and nobody else's", async (place) => {
    const channel = newChannel("room");
    const [ada, bob] = [crypto.randomUUID(), crypto.randomUUID()];
    const older = await new Variant(place, awake).connect(channel, ada);
    const other = await new Variant(place, awake).connect(channel, bob);
    await variant.betweenSteps(channel);
    const newer = await variant.connect(channel, ada);
    expect(await older.closed).toStrictEqual(replaced);
    await variant.betweenSteps(channel);
    // What has ended is closed by nobody, and what is closed closes nobody.
    newer.close();
    await newer.closed;
    const newest = await variant.connect(channel, ada);
    await newest.unread();
    await other.unread();
  });
});
