import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { handoverHeader, parseHandover } from "../../../src/contract/handover.ts";
import { limits } from "../../../src/limits.ts";
import { address, fetchWith } from "../support/api-request.ts";
import { configure } from "../support/configure.ts";
import { newChannel } from "../support/new-channel.ts";
import { openConfig } from "../support/open-transports.ts";
import { gatewayPlace } from "../support/place.ts";
import { token } from "../support/sign-token.ts";
import { TestSocket } from "../support/test-socket.ts";
import { watchedUpgrades } from "../support/watched-upgrades.ts";

configure({
  ...openConfig,
  client: { ...openConfig.client, allow_anonymous_connect_without_token: true },
});
const burst = 128 + limits.newChannelsBurst;

/** Connects to one gateway, names so many channels, and says how many were answered otherwise than with 111. */
async function named(region: string, user: string, count: number): Promise<number> {
  const socket = TestSocket.on(await gatewayPlace().upgrade(region));
  await socket.ask({ id: 1, connect: { token: await token({ sub: user }) } });
  for (let index = 0; index < count; index++)
    socket.send({ id: 2, history: { channel: newChannel("nowhere:"), limit: 1 } });
  const lines = await socket.beforeFence();
  socket.close();
  await socket.closed;
  return lines.filter((line) => !line.includes(`"code":111`)).length;
}

describe("a client that comes back to name further channels", () => {
  it("[B8] isn't granted more than if it had stayed", async () => {
    const region = newChannel("room");
    expect(await named(region, "ada", burst)).toBe(burst);
    // The test may take some seconds.
    expect(await named(region, "ada", burst)).toBeLessThan(burst / 4);
    expect(await named(region, "bob", burst)).toBe(burst);
  });

  it.each([
    ["/connection/websocket", { headers: { Upgrade: "websocket" } }],
    ["/connection/http_stream", { method: "POST", body: '{"id":1,"connect":{}}' }],
    ["/connection/sse", { method: "POST", body: '{"id":1,"connect":{}}' }],
  ])("[B8] [B18] without a token is known by its address at %s", async (path, init) => {
    const told: unknown[] = [];
    const GATEWAYS = watchedUpgrades(env.GATEWAYS, async ({ request }) => {
      told.push(parseHandover(request.headers.get(handoverHeader) ?? "").address);
      return new Response(null, { status: 503 });
    });
    const request = new Request(address(path), init);
    request.headers.set("CF-Connecting-IP", "192.0.2.1");
    await fetchWith({ GATEWAYS }, request);
    expect(told).toStrictEqual(["192.0.2.1"]);
  });
});
