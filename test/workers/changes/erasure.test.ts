import { afterEach, describe, expect, it } from "vitest";
import { changeLimits } from "../../../src/features/changes/limits.ts";
import { call, publish } from "../support/api-request.ts";
import { configure } from "../support/configure.ts";
import { lostCall } from "../support/crash-object.ts";
import { newChannel } from "../support/new-channel.ts";
import { testConfig } from "../support/test-config.ts";
import type { TestSocket } from "../support/test-socket.ts";
import { awakeVariants, gatewayVariants, variants } from "../support/variant.ts";
import { watchedRelay } from "../support/watched-relay.ts";

const changed = {
  name: "changed",
  history_size: 20,
  history_ttl: "5m",
  allow_change: true,
  allow_subscribe_for_client: true,
  allow_publish_for_client: true,
  allow_history_for_client: true,
  force_positioning: true,
  force_recovery: true,
};
configure({
  ...testConfig,
  channel: {
    ...testConfig.channel,
    namespaces: [...testConfig.channel.namespaces, changed],
  },
});

const before = { ...changeLimits };
afterEach(() => {
  watchedRelay.deliveryFault = undefined;
  Object.assign(changeLimits, before);
});

const erase = async (channel: string, what: object): Promise<object> => {
  const answer: object = JSON.parse((await call("erase", { channel, ...what })).body);
  return answer;
};

/** A client publishes, and gets the publication and the reply. */
async function publishBy(socket: TestSocket, channel: string, data: string): Promise<void> {
  socket.send({ id: 9, publish: { channel, data } });
  expect(await socket.line()).toContain(data);
  expect(await socket.line()).toContain('"id":9');
}

describe.each(variants)("an erasure with subscribers on $name", (variant) => {
  it("[ED14] is heard of once, and nobody who comes later gets what was erased", async () => {
    const channel = newChannel("changed");
    const live = await variant.subscribe(channel, "ada");
    await publishBy(live, channel, "secret");
    await variant.betweenSteps(channel);
    const { epoch } = await publish(channel, "other");
    expect(await live.line()).toContain("other");
    await variant.betweenSteps(channel);
    expect(await erase(channel, { offset: 1 })).toStrictEqual({
      result: { offset: 3, epoch, erased: 1 },
    });
    expect(await live.line()).toContain('"dormouse.erase":"1"');
    expect(await live.unread()).toStrictEqual([]);
    await variant.betweenSteps(channel);
    const late = await variant.connect(channel, "bob");
    const since = { recover: true, epoch, offset: 0 };
    late.send({ id: 2, subscribe: { channel, ...since } });
    const recovered = await late.line();
    expect(recovered).toContain('"dormouse.erased":"3"');
    late.send({ id: 4, history: { channel, limit: -1 } });
    const history = await late.line();
    const { body } = await call("history", { channel, limit: -1 });
    for (const read of [recovered, history, body]) expect(read).not.toMatch(/secret|"user":"ada"/);
  });
});

describe.each(awakeVariants)("an erasure of a user on $name", (variant) => {
  it("[ED16] is carried out in slices, and answered once", async () => {
    Object.assign(changeLimits, { erasedAtOnce: 2 });
    const channel = newChannel("changed");
    const socket = await variant.subscribe(channel, "ada");
    for (let number = 1; number <= 5; number++)
      await publishBy(socket, channel, `secret ${number}`);
    await publish(channel, "other");
    expect(await erase(channel, { user: "ada" })).toMatchObject({ result: { erased: 5 } });
    const { body } = await call("history", { channel, limit: -1 });
    expect(body).not.toMatch(/secret|"user":"ada"/);
    expect(body).toContain("other");
    for (const erased of ["1-2", "3-4", "5"])
      expect(body).toContain(`"dormouse.erase":"${erased}"`);
  });
});

describe.each(gatewayVariants.slice(0, 1))("an erasure with a gateway that fails", (variant) => {
  it("[ED16] isn't acknowledged before the gateway has taken it, and is ended by the next request", async () => {
    Object.assign(changeLimits, { erasureAnswerMs: 50 });
    const channel = newChannel("changed");
    const live = await variant.subscribe(channel, "ada");
    await publish(channel, "secret");
    expect(await live.line()).toContain("secret");
    watchedRelay.deliveryFault = lostCall;
    expect(await erase(channel, { offset: 1 })).toMatchObject({ error: { code: 100 } });
    watchedRelay.deliveryFault = undefined;
    Object.assign(changeLimits, { erasureAnswerMs: 8_000 });
    expect(await erase(channel, { offset: 1 })).toMatchObject({ result: { erased: 0 } });
    expect(await live.line()).toContain('"dormouse.erase":"1"');
  });
});
