import { env } from "cloudflare:workers";
import { afterEach, describe, expect, it } from "vitest";
import type { RelayReplies } from "../../../src/contract/relay-request.ts";
import { keptData, publish } from "../support/api-request.ts";
import { crashObject, lostCall } from "../support/crash-object.ts";
import { newChannel } from "../support/new-channel.ts";
import { gatewayPlace } from "../support/place.ts";
import { subscribePastJoin, pushLine } from "../presence/presence-pushes.ts";
import { watchedRelay } from "../support/watched-relay.ts";
import { Variant } from "../support/variant.ts";
import { awake } from "../support/object-state.ts";

const variant = new Variant(gatewayPlace(), awake);

afterEach(() => {
  watchedRelay.requestFault = undefined;
  watchedRelay.deliveryFault = undefined;
});

/** Only the first call goes this way. */
function loseFirst(carryOut: boolean): void {
  let first = true;
  watchedRelay.requestFault = async ({ proceed }): Promise<RelayReplies> => {
    if (!first) return proceed();
    first = false;
    if (carryOut) await proceed();
    return lostCall();
  };
}

describe.each([
  ["is lost", false],
  ["is carried out, and its answer lost", true],
])("a call to a channel that %s", (_, carryOut) => {
  it("[L1] is made again for a subscribe, which misses nothing", async () => {
    const channel = newChannel("room");
    const { epoch } = await publish(channel, 1);
    const socket = await variant.connect(channel, "ada");
    loseFirst(carryOut);
    const options = { recover: true, epoch, offset: 0 };
    expect(await socket.ask({ id: 2, subscribe: { channel, ...options } })).toMatchObject({
      subscribe: { recovered: true, publications: [{ data: 1, offset: 1 }] },
    });
    await publish(channel, 2);
    const publications = (await socket.unread()).filter((line) => line.includes('"pub"'));
    expect(publications).toStrictEqual([pushLine(channel, "pub", '{"data":2,"offset":2}')]);
  });

  it("[L1] isn't repeated for a publish: its client is answered 100", async () => {
    const channel = newChannel("room");
    const socket = await subscribePastJoin(variant, channel, "ada");
    await socket.unread();
    loseFirst(carryOut);
    socket.send({ id: 3, publish: { channel, data: 1 } });
    const lines = [await socket.line(), ...(await socket.unread())];
    expect(lines.filter((line) => line.includes('"id":3'))).toStrictEqual([
      '{"id":3,"error":{"code":100,"message":"internal server error","temporary":true}}',
    ]);
    expect(lines.filter((line) => line.includes('"pub"'))).toHaveLength(carryOut ? 1 : 0);
    expect(await keptData(channel)).toHaveLength(carryOut ? 1 : 0);
  });

  it("[O5][L1] is repeated for a leave, which the others receive", async () => {
    const channel = newChannel("room");
    const [ada, bob] = [
      await subscribePastJoin(variant, channel, "ada"),
      await subscribePastJoin(variant, channel, "bob"),
    ];
    await ada.unread();
    loseFirst(carryOut);
    bob.close();
    expect(await ada.line()).toContain('"leave":{"info":{"user":"bob"');
  });
});

describe("a late answer to a gateway that reads missed publications", () => {
  it("[L3][O1] comes before the entries that the channel delivered meanwhile, of which none is lost", async () => {
    const channel = newChannel("room");
    const socket = await subscribePastJoin(variant, channel, "ada");
    await publish(channel, 1);
    await socket.unread();
    watchedRelay.deliveryFault = lostCall;
    await publish(channel, 2);
    await crashObject(env.CHANNELS.getByName(channel));
    watchedRelay.deliveryFault = undefined;
    const known = Promise.withResolvers<undefined>();
    watchedRelay.requestFault = async ({ proceed }): Promise<RelayReplies> => {
      const answers = await proceed();
      await known.promise;
      return answers;
    };
    await publish(channel, 3);
    while (watchedRelay.requests.at(-1)?.method !== "recover") await goOn();
    for (const data of [4, 5]) await publish(channel, data);
    while (watchedRelay.deliveries.at(-1)?.batch.top?.offset !== 5) await goOn();
    known.resolve(undefined);
    for (const offset of [2, 3, 4, 5]) {
      expect(await socket.line()).toBe(
        pushLine(channel, "pub", `{"data":${offset},"offset":${offset}}`),
      );
    }
    expect(await socket.unread()).toStrictEqual([]);
  });
});

/** Lets the objects go on. */
function goOn(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 1));
}
