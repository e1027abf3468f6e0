import { exports } from "cloudflare:workers";
import { afterEach, describe, expect, it, vi } from "vitest";
import { address, publish } from "../support/api-request.ts";
import { attachmentsOf } from "../support/attachments.ts";
import { configure } from "../support/configure.ts";
import { newChannel } from "../support/new-channel.ts";
import { openConfig } from "../support/open-transports.ts";
import { token } from "../support/sign-token.ts";
import { TestSocket } from "../support/test-socket.ts";
import { emulate, TestStream } from "../support/test-stream.ts";
import { variants } from "../support/variant.ts";

/** A namespace with every feature and without a permission. */
const vault = { name: "vault", presence: true, history_size: 10, history_ttl: "5m" };
const { namespaces } = openConfig.channel;
configure({
  ...openConfig,
  channel: { ...openConfig.channel, namespaces: [...namespaces, vault] },
});

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

const everything = {
  channels: ["vault:*"],
  match: "wildcard",
  allow: ["sub", "pub", "prs", "hst"],
};

/** The claims of a client that may do this on a channel. */
const caps = (channel: string, ...allow: readonly string[]) => ({
  caps: [{ channels: [`^${channel}$`], match: "regex", allow }],
});

describe.each(variants)("the capabilities of a client on $name", (variant) => {
  it("[A16] come from the upgrade's token as well, and are kept with the session", async () => {
    const channel = newChannel("vault");
    const signed = await token({ sub: "ada", caps: [everything] });
    const socket = await variant.open(channel, `?token=${signed}`);
    await variant.betweenSteps(channel);
    await socket.ask({ id: 1, connect: {} });
    await variant.betweenSteps(channel);
    const wish = { id: 2, subscribe: { channel, recoverable: true } };
    expect(await socket.ask(wish)).toMatchObject({ subscribe: { recoverable: true } });
    await variant.betweenSteps(channel);
    const [attachment] = await attachmentsOf(variant.place.holder(channel));
    expect(attachment).toMatchObject({
      v: 1,
      claims: { user: "ada", capabilities: JSON.stringify([everything]) },
      subscription: { channel, byCapability: true },
    });
    await variant.betweenSteps(channel);
  });
});

describe("on every other transport, a capability", () => {
  const anywhere = ["/connection", "/channel"] as const;
  const at = (base: (typeof anywhere)[number], channel: string) =>
    base === "/channel" ? `${base}/${encodeURIComponent(channel)}` : base;

  it.each(anywhere)("[A16] [T1] counts on http_stream and sse: %s", async (base) => {
    const channel = newChannel("vault");
    const signed = await token({ sub: "ada", ...caps(channel, "sub", "pub") });
    const frame = [
      { id: 1, connect: { token: signed } },
      { id: 2, subscribe: { channel } },
    ]
      .map((command) => JSON.stringify(command))
      .join("\n");
    const path = at(base, channel);
    const stream = await TestStream.open(`${path}/http_stream`, { method: "POST", body: frame });
    const { connect }: { connect: { session: string; node: string } } = JSON.parse(
      await stream.line(),
    );
    expect(await stream.line()).toBe('{"id":2,"subscribe":{}}');
    const publishing = JSON.stringify({ id: 3, publish: { channel, data: 1 } });
    await emulate(connect.session, connect.node, publishing);
    expect(await stream.line()).toContain(`"pub":{"data":1,`);
    await stream.cancel();
    const events = await TestStream.open(`${path}/sse`, { method: "POST", body: frame });
    expect(await events.upTo('"subscribe":{}')).toContain(`"id":2`);
    await events.cancel();
  });

  it.each(anywhere)("[A16] [C11] lets unidirectional clients subscribe: %s", async (base) => {
    const channel = newChannel("vault");
    const { offset, epoch } = await publish(channel, 1);
    await publish(channel, 2);
    const signed = await token({ sub: "ada", ...caps(channel, "sub", "hst") });
    const subs = { [channel]: { recover: true, offset, epoch } };
    const request = JSON.stringify({ token: signed, subs });
    const query = `?cf_connect=${encodeURIComponent(request)}`;
    const path = at(base, channel);
    const recovered = `"publications":[{"data":2,"offset":2}],"recovered":true`;
    const lines = await TestStream.open(`${path}/uni_http_stream`, {
      method: "POST",
      body: request,
    });
    expect(await lines.line()).toContain(recovered);
    await lines.cancel();
    const events = await TestStream.open(`${path}/uni_sse${query}`);
    expect(await events.upTo("\n\n")).toContain(recovered);
    await events.cancel();
    const upgrade = { headers: { Upgrade: "websocket" } };
    const response = await exports.default.fetch(address(`${path}/uni_websocket`), upgrade);
    const socket = TestSocket.on(response);
    socket.sendFrame(request);
    expect(await socket.line()).toContain(recovered);
    await publish(channel, 3);
    expect(await socket.line()).toBe(`{"channel":"${channel}","pub":{"data":3,"offset":3}}`);
  });

  it("[A16] [T9] lets a client poll", async () => {
    const channel = newChannel("vault");
    await publish(channel, 1);
    const poll = async (claims: object) => {
      const path = `/channel/${encodeURIComponent(channel)}/poll?offset=0`;
      const headers = { Authorization: `Bearer ${await token({ sub: "ada", ...claims })}` };
      return exports.default.fetch(address(path), { headers });
    };
    const allowed = await poll(caps(channel, "sub", "hst"));
    expect(await allowed.text()).toContain(`"publications":[{"data":1,`);
    expect(allowed.headers.get("Cache-Control")).toBe("private, no-store");
    expect((await poll(caps(channel, "hst"))).status).toBe(403);
    expect((await poll({})).status).toBe(403);
  });
});
