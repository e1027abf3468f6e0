import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, it, vi } from "vitest";
import { tokenKey } from "../../../src/contract/identity-key.ts";
import { homeName } from "../../../src/contract/object-names.ts";
import { limits } from "../../../src/limits.ts";
import type { UsersObject } from "../../../workers/objects/users-object.ts";
import { hibernate } from "../support/attachments.ts";
import { blockObject } from "../support/block-object.ts";
import { configure } from "../support/configure.ts";
import { crashObject } from "../support/crash-object.ts";
import { newChannel } from "../support/new-channel.ts";
import { openConfig } from "../support/open-transports.ts";
import { channelPlace, gatewayPlace, type Place, spillPlace } from "../support/place.ts";
import { token } from "../support/sign-token.ts";
import { TestSocket } from "../support/test-socket.ts";
import { awakeVariants, everyVariant } from "../support/variant.ts";
import { lowerLimits } from "../support/lower-limits.ts";
import { writeRegistrations } from "./written-registrations.ts";
import { patience } from "../../support/patience.ts";

configure({ ...openConfig, client: { ...openConfig.client, user_connection_limit: 2 } });

const newUser = () => `user-${crypto.randomUUID()}`;
const homeOf = (user: string) => env.USERS.getByName(homeName(user));
const tooMany = { code: 3504, reason: "connection limit" };

/** Opens a socket and asks to connect; resolves with "connected" or the code of the close. */
async function tryToConnect(
  place: Place,
  channel: string,
  user: string,
): Promise<{ readonly outcome: "connected" | number; readonly socket: TestSocket }> {
  const socket = TestSocket.on(await place.upgrade(channel));
  const connect = { token: await token({ sub: user }) };
  const connected = socket
    .ask({ id: 1, connect })
    .then(() => "connected" as const)
    .catch(async () => (await socket.closed).code);
  return { outcome: await connected, socket };
}

const everywhere = [channelPlace, gatewayPlace(0), gatewayPlace(1), spillPlace];

describe.each(everyVariant)("client.user_connection_limit on $name", (variant) => {
  it("[U12] [U37] refuses a connection that is too many, until one of the others has ended", async () => {
    const channel = newChannel("room");
    const [ada, bob] = [newUser(), newUser()];
    const pause = async (): Promise<void> => {
      await variant.betweenSteps(channel);
      if (!variant.name.endsWith("evicted")) return;
      // Only a running object can be evicted.
      await runInDurableObject<UsersObject, void>(homeOf(ada), () => undefined);
      await hibernate(homeOf(ada));
    };
    const first = await variant.connect(channel, ada);
    await variant.connect(channel, ada);
    await pause();
    const third = await variant.open(channel);
    third.send({ id: 1, connect: { token: await token({ sub: ada }) } });
    expect(await third.closed).toStrictEqual(tooMany);
    await pause();
    await variant.connect(channel, bob);
    await variant.connect(channel, "");
    first.close();
    await first.closed;
    await pause();
    await variant.connect(channel, ada);
    const fourth = await variant.open(channel);
    fourth.send({ id: 1, connect: { token: await token({ sub: ada }) } });
    expect(await fourth.closed).toStrictEqual(tooMany);
  });
});

describe("client.user_connection_limit across all objects", () => {
  it("[U12] lets as many in as it says, of those that come at the same time", async () => {
    for (let round = 0; round < 3; round++) {
      const channel = newChannel("room");
      const user = newUser();
      const all = await Promise.all(
        Array.from({ length: 12 }, (_, index) =>
          tryToConnect(everywhere[index % everywhere.length] ?? channelPlace, channel, user),
        ),
      );
      const outcomes = all.map(({ outcome }) => outcome);
      expect(outcomes.filter((one) => one === "connected")).toHaveLength(2);
      expect(outcomes.filter((one) => one === tooMany.code)).toHaveLength(10);
      for (const { outcome, socket } of all) {
        if (outcome !== "connected") continue;
        socket.close();
        await socket.closed;
      }
      expect((await tryToConnect(spillPlace, channel, user)).outcome).toBe("connected");
    }
  });

  it("[U12] [U37] survives crashes of the home and of an object that holds connections", async () => {
    const channel = newChannel("room");
    const user = newUser();
    expect((await tryToConnect(channelPlace, channel, user)).outcome).toBe("connected");
    expect((await tryToConnect(gatewayPlace(), channel, user)).outcome).toBe("connected");
    await crashObject(homeOf(user));
    expect((await tryToConnect(spillPlace, channel, user)).outcome).toBe(tooMany.code);
    // With the object its sockets are gone, and nobody has told the home.
    await crashObject(gatewayPlace().holder(channel));
    expect((await tryToConnect(spillPlace, channel, user)).outcome).toBe("connected");
    expect((await tryToConnect(channelPlace, channel, user)).outcome).toBe(tooMany.code);
  });

  it("[U12] counts a connection that was admitted and still waits for its token's home", async () => {
    const channel = newChannel("room");
    const user = newUser();
    let jti = `token-${crypto.randomUUID()}`;
    while (homeName(tokenKey(jti)) === homeName(user)) jti = `token-${crypto.randomUUID()}`;
    const waiting = TestSocket.on(await channelPlace.upgrade(channel));
    const unblock = blockObject(env.USERS.getByName(homeName(tokenKey(jti))));
    waiting.send({ id: 1, connect: { token: await token({ sub: user, jti }) } });
    await vi.waitFor(async () => {
      const slots = await runInDurableObject<UsersObject, number>(homeOf(user), ({ sql }) => {
        const [table] = sql.rows("SELECT 1 FROM sqlite_master WHERE name = 'slot'");
        if (table === undefined) return 0;
        return sql.rows("SELECT 1 FROM slot WHERE user = ?", user).length;
      });
      expect(slots).toBe(1);
    }, patience);
    expect((await tryToConnect(gatewayPlace(), channel, user)).outcome).toBe("connected");
    expect((await tryToConnect(spillPlace, channel, user)).outcome).toBe(tooMany.code);
    await unblock();
    expect(await waiting.line()).toContain('"connect"');
  });

  it("[U37] doesn't count the connections of an object that doesn't answer, and counts them later", async () => {
    const channel = newChannel("room");
    const user = newUser();
    for (let index = 0; index < 2; index++)
      expect((await tryToConnect(gatewayPlace(0), channel, user)).outcome).toBe("connected");
    const unblock = blockObject(gatewayPlace(0).holder(channel));
    lowerLimits(limits, { slotAnswerMs: 300 });
    const startedMs = Date.now();
    expect((await tryToConnect(gatewayPlace(1), channel, user)).outcome).toBe("connected");
    expect(Date.now() - startedMs).toBeGreaterThan(limits.slotAnswerMs / 2);
    await unblock();
    expect((await tryToConnect(spillPlace, channel, user)).outcome).toBe(tooMany.code);
  });
});

describe.each(awakeVariants)(
  "the cost of client.user_connection_limit on $place.name",
  (variant) => {
    it("[U5] [U37] is a row for each connection", async () => {
      const channel = newChannel("room");
      const user = newUser();
      await variant.connect(channel, user);
      const rows = () =>
        runInDurableObject<UsersObject, number>(homeOf(user), ({ sql }) => sql.rowsWritten);
      await writeRegistrations(user);
      const before = await rows();
      const socket = await variant.connect(channel, user);
      expect(await rows()).toBe(before + 1);
      socket.close();
      await socket.closed;
      expect(await rows()).toBe(before + 1);
      // The row of the one that has ended is deleted.
      await variant.connect(channel, user);
      expect(await rows()).toBe(before + 3);
    });
  },
);
