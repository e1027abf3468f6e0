import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
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
});
