import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { homeName } from "../../../src/contract/object-names.ts";
import { call } from "../support/api-request.ts";
import { hibernate } from "../support/attachments.ts";
import { configure } from "../support/configure.ts";
import { newChannel } from "../support/new-channel.ts";
import { openConfig } from "../support/open-transports.ts";
import { testConfig } from "../support/test-config.ts";
import type { TestSocket } from "../support/test-socket.ts";
import { variants } from "../support/variant.ts";

const hook = { endpoint: "service:BACKEND", timeout: "20s" };
configure({
  ...openConfig,
  client: {
    ...testConfig.client,
    user_connection_limit: 2,
    proxy: { connect: { enabled: true, ...hook } },
  },
  channel: {
    ...testConfig.channel,
    proxy: { subscribe: hook },
    namespaces: [{ name: "asked", subscribe_proxy_enabled: true }],
  },
});
Object.assign(env, { HOOK_SIGNING_SECRET: "hook-signing-secret-of-worker-tests" });

/** A user whom no other test has. */
const newUser = () => `user-${crypto.randomUUID()}`;
const done = { status: 200, body: '{"result":{}}' };
/** The data with which a client has the backend answer so. */
const answering = (result: object) => ({ answer: { body: { result } } });

describe.each(variants)("users whom a backend named, on $name", (variant) => {
  const pause = async (channel: string, user: string): Promise<void> => {
    await variant.betweenSteps(channel);
    if (variant.name.endsWith("evicted")) await hibernate(env.USERS.getByName(homeName(user)));
  };

  /** A socket that has asked to connect as this user. */
  async function connecting(channel: string, user: string): Promise<TestSocket> {
    const socket = await variant.open(channel);
    socket.send({ id: 1, connect: { data: answering({ user }) } });
    return socket;
  }

  async function subscribed(channel: string, user: string): Promise<TestSocket> {
    const socket = await connecting(channel, user);
    expect(await socket.line()).toContain('"connect"');
    await socket.ask({ id: 2, subscribe: { channel, data: answering({}) } });
    return socket;
  }

  it("[U11] [U20] [U1] are shown and thrown out, and have no tokens that can be invalid", async () => {
    const channel = newChannel("asked");
    const ada = newUser();
    const socket = await subscribed(channel, ada);
    await pause(channel, ada);
    const shown = await call("connections", { user: ada });
    expect(shown.body).toContain(`"${channel}":{"source":4`);
    expect(shown.body).not.toContain("connection_token");
    expect(await call("invalidate_user_tokens", { user: ada })).toStrictEqual(done);
    await pause(channel, ada);
    expect(await socket.unread()).toStrictEqual([]);
    const later = await connecting(channel, ada);
    expect(await later.line()).toContain('"connect"');
    expect(await call("disconnect", { user: ada })).toStrictEqual(done);
    for (const one of [socket, later])
      expect(await one.closed).toStrictEqual({ code: 3503, reason: "force disconnect" });
  });
});
