import { describe, expect, it } from "vitest";
import { call, publish } from "./api-request.ts";
import { configure } from "./configure.ts";
import { newChannel } from "./new-channel.ts";
import { openConfig } from "./open-transports.ts";
import { emulate, TestStream } from "./test-stream.ts";
import { token } from "./token.ts";

configure(openConfig);

/** Both endpoints, by the path before the transport's name. */
const endpoints: readonly [string, (channel: string) => string][] = [
  ["/channel/<name>", (channel) => `/channel/${encodeURIComponent(channel)}`],
  ["/connection", () => "/connection"],
];

async function connectFrame(user: string): Promise<string> {
  return JSON.stringify({ id: 1, connect: { token: await token({ sub: user }) } });
}

describe.each(endpoints)("a stream of server-sent events on %s", (_, base) => {
  it("[T1] carries replies and pushes, each in an event of its own, and ends when its client goes", async () => {
    const channel = newChannel("room");
    const frame = `${await connectFrame("ada")}\n{"id":2,"subscribe":{"channel":"${channel}"}}`;
    const stream = await TestStream.open(
      `${base(channel)}/sse?cf_connect=${encodeURIComponent(frame)}`,
    );
    const { headers } = stream.response;
    expect(headers.get("Content-Type")).toBe("text/event-stream; charset=utf-8");
    expect(headers.get("Cache-Control")).toBe(
      "private, no-cache, no-store, must-revalidate, max-age=0",
    );
    expect(headers.get("X-Accel-Buffering")).toBe("no");
    expect(await stream.upTo("\r\n")).toBe("\r\n");
    const { connect } = JSON.parse(await stream.event());
    expect(connect).toMatchObject({ ping: 25 });
    expect(connect).not.toHaveProperty("pong");
    expect(JSON.parse(await stream.event())).toMatchObject({ id: 2, subscribe: {} });
    expect(JSON.parse(await stream.event())).toMatchObject({ push: { join: {} } });
    await publish(channel, { text: "a\nb" });
    expect(await stream.event()).toMatch(/"pub":\{"data":\{"text":"a\\nb"\}/);
    const posted = await emulate(
      connect.session,
      connect.node,
      `{"id":3,"presence_stats":{"channel":"${channel}"}}`,
    );
    expect(posted.status).toBe(204);
    expect(await stream.event()).toBe(`{"id":3,"presence_stats":{"num_clients":1,"num_users":1}}`);
    await stream.cancel();
    await expect
      .poll(async () => (await call("presence_stats", { channel })).body)
      .toBe(`{"result":{"num_clients":0,"num_users":0}}`);
  });
});
