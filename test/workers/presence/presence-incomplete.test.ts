import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { limits } from "../../../src/limits.ts";
import { ObjectSql } from "../../../workers/platform/object-sql.ts";
import { call } from "../support/api-request.ts";
import { hibernate } from "../support/attachments.ts";
import { blockObject } from "../support/block-object.ts";
import { newChannel } from "../support/new-channel.ts";
import { channelPlace, gatewayPlace } from "../support/place.ts";
import { Variant } from "../support/variant.ts";
import { lowerLimits } from "../support/lower-limits.ts";
import { awake } from "../support/object-state.ts";

const [own, near, far] = [
  new Variant(channelPlace, awake),
  new Variant(gatewayPlace(0), awake),
  new Variant(gatewayPlace(1), awake),
];

/** Registers a gateway with a channel that no object can be. */
async function registerNonsense(channel: string): Promise<void> {
  await runInDurableObject(env.CHANNELS.getByName(channel), (_, { storage }) => {
    const insert = "INSERT INTO gateway VALUES ('nonsense', 0, NULL)";
    new ObjectSql(storage).run(insert);
  });
  await hibernate(env.CHANNELS.getByName(channel));
}

describe("presence with a gateway that", () => {
  it("[G6] fails is incomplete, and says so to backends and clients", async () => {
    const channel = newChannel("plain");
    const sockets = [await near.subscribe(channel, "ada"), await own.subscribe(channel, "bob")];
    const clients = Object.fromEntries(
      ["ada", "bob"].map((user, index) => {
        const client = sockets[index]?.client ?? "";
        return [client, { user, client }];
      }),
    );
    await registerNonsense(channel);
    expect(JSON.parse((await call("presence", { channel })).body)).toStrictEqual({
      result: { presence: clients, incomplete: true },
    });
    for (const socket of sockets) {
      socket.send({ id: 4, presence_stats: { channel } });
      expect(await socket.line()).toBe(
        '{"id":4,"presence_stats":{"num_clients":2,"num_users":2,"incomplete":true}}',
      );
    }
  });

  it("[G6] hangs is incomplete after a while, for requests in every place, and none waits longer", async () => {
    const channel = newChannel("plain");
    await near.subscribe(channel, "ada");
    const [bob, cyd] = [await far.subscribe(channel, "bob"), await own.subscribe(channel, "cyd")];
    lowerLimits(limits, { presenceGatherMs: 500 });
    const goOn = blockObject(near.place.holder(channel));
    const startedMs = Date.now();
    const counted = '{"num_clients":2,"num_users":2,"incomplete":true}';
    bob.send({ id: 3, presence_stats: { channel } });
    cyd.send({ id: 3, presence_stats: { channel } });
    const answers = [
      call("presence_stats", { channel }).then(({ body }) => body),
      bob.line(),
      cyd.line(),
    ];
    expect(await Promise.all(answers)).toStrictEqual([
      `{"result":${counted}}`,
      `{"id":3,"presence_stats":${counted}}`,
      `{"id":3,"presence_stats":${counted}}`,
    ]);
    const tookMs = Date.now() - startedMs;
    expect(tookMs).toBeGreaterThanOrEqual(limits.presenceGatherMs - 10);
    // How long an SDK waits for a reply.
    expect(tookMs).toBeLessThan(5_000);
    await goOn();
    expect((await call("presence_stats", { channel })).body).toBe(
      '{"result":{"num_clients":3,"num_users":3}}',
    );
  });
});
