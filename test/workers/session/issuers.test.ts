import { env, exports } from "cloudflare:workers";
import { describe, expect, it, vi } from "vitest";
import { address } from "../support/api-request.ts";
import { configure } from "../support/configure.ts";
import { newChannel } from "../support/new-channel.ts";
import { openConfig } from "../support/open-transports.ts";
import { token } from "../support/sign-token.ts";
import { variants } from "../support/variant.ts";

const secrets = {
  TOKEN_HMAC_SECRET_KEY_SHOP: "the-secret-of-the-shop",
  TOKEN_HMAC_SECRET_KEY_FORUM: "the-secret-of-the-forum",
};
const issuers = [
  { issuer: "shop", hmac_secret: "TOKEN_HMAC_SECRET_KEY_SHOP" },
  { issuer: "forum", hmac_secret: "TOKEN_HMAC_SECRET_KEY_FORUM" },
];
configure({ ...openConfig, client: { ...openConfig.client, token: { issuers } } });
Object.assign(env, secrets);

const ofShop = (claims: object) =>
  token({ iss: "shop", ...claims }, secrets.TOKEN_HMAC_SECRET_KEY_SHOP);
const ofForum = (claims: object) =>
  token({ iss: "forum", ...claims }, secrets.TOKEN_HMAC_SECRET_KEY_FORUM);

describe.each(variants)("with several issuers, on $name", (variant) => {
  it("[A15] a client connects, subscribes and refreshes with tokens of each", async () => {
    const channel = newChannel("closed");
    const byQuery = await variant.open(channel, `?token=${await ofShop({ sub: "ada" })}`);
    await byQuery.ask({ id: 1, connect: {} });
    const byCommand = await variant.open(channel);
    await variant.betweenSteps(channel);
    await byCommand.ask({ id: 1, connect: { token: await ofForum({ sub: "ben" }) } });
    await variant.betweenSteps(channel);
    byQuery.send({
      id: 2,
      subscribe: { channel, token: await ofForum({ sub: "ada", channel }) },
    });
    expect(await byQuery.line()).toBe('{"id":2,"subscribe":{}}');
    await variant.betweenSteps(channel);
    byCommand.send({ id: 2, refresh: { token: await ofShop({ sub: "ben" }) } });
    expect(await byCommand.line()).toBe('{"id":2,"refresh":{}}');
    await variant.betweenSteps(channel);
  });

  it("[A15] no other issuer's token opens anything, and none that another one signed", async () => {
    const channel = newChannel("closed");
    for (const bad of await badTokens()) {
      expect((await variant.place.upgrade(channel, `?token=${bad}`)).status).toBe(401);
      const socket = await variant.open(channel);
      await variant.betweenSteps(channel);
      socket.send({ id: 1, connect: { token: bad } });
      expect((await socket.closed).code).toBe(3500);
      await variant.betweenSteps(channel);
    }
    const ada = await variant.open(channel);
    await variant.betweenSteps(channel);
    await ada.ask({ id: 1, connect: { token: await ofShop({ sub: "ada" }) } });
    const plain = await token({ sub: "ada", channel });
    await variant.betweenSteps(channel);
    const reply = await ada.ask({ id: 2, subscribe: { channel, token: plain } });
    expect(reply.error?.code).toBe(103);
    await variant.betweenSteps(channel);
  });
});

/** One of an issuer that isn't listed, one that another issuer signed, and one without an issuer. */
function badTokens(): Promise<readonly string[]> {
  return Promise.all([
    token({ iss: "bazaar", sub: "eve" }, secrets.TOKEN_HMAC_SECRET_KEY_SHOP),
    token({ iss: "shop", sub: "eve" }, secrets.TOKEN_HMAC_SECRET_KEY_FORUM),
    token({ sub: "eve" }),
  ]);
}

it("[A15] [A13] the log says which setting refused a token", async () => {
  const lines: string[] = [];
  vi.spyOn(console, "warn").mockImplementation((line) => lines.push(String(line)));
  // Another kind of refusal than those above, of which the log has only some.
  for (const bad of await badTokens()) {
    const request = new Request(address(`/channel/news/uni_websocket?token=${bad}`), {
      headers: { Upgrade: "websocket" },
    });
    expect((await exports.default.fetch(request)).status).toBe(401);
    expect(lines.join()).not.toContain(bad);
  }
  vi.restoreAllMocks();
  const refusals = lines.filter((line) => line.startsWith("{"));
  expect(refusals.map((line): object => JSON.parse(line))).toMatchObject([
    { reason: `the token is invalid: client.token.issuers doesn't list the "iss" claim` },
    { reason: "the token is invalid: the signature doesn't match TOKEN_HMAC_SECRET_KEY_SHOP" },
    {
      reason: 'the token is invalid: the "iss" claim is missing, and client.token.issuers is set',
    },
  ]);
});
