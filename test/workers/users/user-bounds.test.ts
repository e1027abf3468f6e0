import { runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { homeName } from "../../../src/contract/object-names.ts";
import { limits } from "../../../src/limits.ts";
import type { UsersObject } from "../../../workers/objects/users-object.ts";
import { call } from "../support/api-request.ts";
import { hibernate } from "../support/attachments.ts";
import { configure } from "../support/configure.ts";
import { newChannel } from "../support/new-channel.ts";
import { testConfig } from "../support/test-config.ts";
import { TestSocket } from "../support/test-socket.ts";

const { client } = testConfig;
configure({ ...testConfig, client: { ...client, users: { status: { enabled: true } } } });

const before = { ...limits };
const holders = 5;
let user: string;
let sockets: readonly TestSocket[];
const home = () => env.USERS.getByName(homeName(user));

function holdersLeft(): Promise<number> {
  return runInDurableObject<UsersObject, number>(home(), ({ sql, host }) => {
    host.writeRegistrations();
    const [row] = sql.rows("SELECT COUNT(*) AS count FROM holder WHERE user = ?", user);
    return Number(row?.["count"]);
  });
}

beforeEach(async () => {
  user = `user-${crypto.randomUUID()}`;
  const channels = Array.from({ length: holders }, () => newChannel("room"));
  sockets = await Promise.all(channels.map((channel) => TestSocket.connect(channel, user)));
});
afterEach(() => {
  Object.assign(limits, before);
  for (const socket of sockets) socket.close();
});

describe("a home whose user is on more objects than it asks", () => {
  it("[B1] [U20] [U25] says that its answers are incomplete", async () => {
    expect(await holdersLeft()).toBe(holders);
    Object.assign(limits, { holdersAskedMax: holders - 1 });
    const listed = JSON.parse((await call("connections", { user })).body).result;
    expect(Object.keys(listed.connections)).toHaveLength(holders - 1);
    expect(listed.incomplete).toBe(true);
    const { body } = await call("get_user_status", { users: [user] });
    expect(JSON.parse(body).result.incomplete).toBe(true);
    Object.assign(limits, { holdersAskedMax: holders });
    expect(JSON.parse((await call("connections", { user })).body).result.incomplete).toBe(
      undefined,
    );
  });

  it("[B1] [U15] sweeps in slices, some of them with each alarm", async () => {
    for (const socket of sockets) {
      socket.close();
      await socket.closed;
    }
    Object.assign(limits, { sweepSliceMax: 1, sweepSlicesPerAlarm: 2 });
    await runInDurableObject<UsersObject, void>(home(), ({ sql, host }) => {
      host.writeRegistrations();
      sql.run("UPDATE sweep SET due = 1");
    });
    await hibernate(home());
    const left: number[] = [];
    while (left.at(-1) !== 0) {
      expect(await runDurableObjectAlarm(home())).toBe(true);
      left.push(await holdersLeft());
    }
    expect(left).toStrictEqual([3, 1, 0]);
  });
});
