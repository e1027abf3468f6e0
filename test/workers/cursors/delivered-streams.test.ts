import { evictDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { call, publish } from "../support/api-request.ts";
import { configure } from "../support/configure.ts";
import { newChannel } from "../support/new-channel.ts";
import { openConfig } from "../support/open-transports.ts";
import { token } from "../support/sign-token.ts";
import { emulate, TestStream } from "../support/test-stream.ts";

configure({
  ...openConfig,
  client: { ...openConfig.client, ping_interval: "1s" },
  channel: {
    ...openConfig.channel,
    namespaces: [
      ...openConfig.channel.namespaces,
      {
        name: "chat",
        allow_subscribe_for_client: true,
        history_size: 100,
        history_ttl: "24h",
        force_recovery: true,
        cursors: { enabled: true },
      },
    ],
  },
});

async function delivered(channel: string): Promise<object> {
  const { body } = await call("delivered", { user: "ann", channel });
  const { result }: { result?: object } = JSON.parse(body);
  return result ?? { body };
}

function pathOf(channel: string, transport: string): string {
  return `/channel/${encodeURIComponent(channel)}/${transport}`;
}

describe.each(["awake", "evicted"])("what has arrived on a stream, its object %s", (state) => {
  async function settle(channel: string): Promise<void> {
    if (state === "evicted")
      await evictDurableObject(env.CHANNELS.getByName(channel), { webSockets: "hibernate" });
  }

  it.concurrent.each(["sse", "http_stream"])(
    "[CU12] %s: a pong proves what was sent before the pong before it",
    async (transport) => {
      const channel = newChannel("chat");
      const connect = { id: 1, connect: { token: await token({ sub: "ann" }) } };
      const frame = [connect, { id: 2, subscribe: { channel } }];
      const stream = await TestStream.open(pathOf(channel, transport), {
        method: "POST",
        body: frame.map((command) => JSON.stringify(command)).join("\n"),
      });
      const reply = await stream.upTo(`"node":"channel:${channel}"}}`);
      const session = /"session":"([^"]+)"/.exec(reply)?.[1] ?? "";
      await stream.upTo(`"id":2,"subscribe":`);
      const pong = async (): Promise<void> => {
        await stream.upTo("{}");
        expect((await emulate(session, `channel:${channel}`, "{}")).status).toBe(204);
        await settle(channel);
      };
      const { epoch } = await publish(channel, 1);
      await settle(channel);
      await pong();
      await publish(channel, 2);
      await settle(channel);
      expect(await delivered(channel)).toStrictEqual({ offset: 0, epoch });
      await pong();
      expect(await delivered(channel)).toMatchObject({ offset: 1, by: "ping" });
      await pong();
      expect(await delivered(channel)).toMatchObject({ offset: 2, by: "ping" });
      await stream.cancel();
    },
  );

  it.concurrent.each(["uni_sse", "uni_http_stream"])(
    "[CU12] %s: nobody answers, so nothing is known",
    async (transport) => {
      const channel = newChannel("chat");
      const query = `?token=${await token({ sub: "ann" })}`;
      const stream = await TestStream.open(pathOf(channel, transport) + query, {
        method: "POST",
        body: "{}",
      });
      await stream.upTo(`"connect":`);
      const { epoch } = await publish(channel, 1);
      for (let count = 0; count < 2; count++) await stream.upTo("{}");
      await settle(channel);
      expect(await delivered(channel)).toStrictEqual({ offset: 0, epoch });
      await stream.cancel();
    },
  );
});
