import { describe, expect, it } from "vitest";
import { limits } from "../../../src/limits.ts";
import { answerOf, call, publish } from "../support/api-request.ts";
import { attachmentsOf, rewriteAttachments, hibernate } from "../support/attachments.ts";
import { newChannel } from "../support/new-channel.ts";
import { channelPlace } from "../support/place.ts";
import { awakeVariants } from "../support/variant.ts";
import { TestSocket } from "../support/test-socket.ts";
import { token } from "../support/sign-token.ts";

describe("an attachment", () => {
  it("[S1] has all that a session is, and no token", async () => {
    const channel = newChannel("room");
    const secret = await token({ sub: "ada", info: { n: 1 } });
    const socket = await TestSocket.open(channel, "?keepalive=client");
    await socket.ask({ id: 1, connect: { token: secret } });
    await socket.ask({ id: 2, subscribe: { channel } });
    await socket.unread();
    const [attachment] = await attachmentsOf(channelPlace.holder(channel));
    expect(attachment).toStrictEqual({
      v: 1,
      phase: "connected",
      client: socket.client,
      openedAtMs: expect.any(Number),
      keepalive: "client",
      claims: { user: "ada", expireAtSeconds: 0, info: '{"n":1}' },
      lastOrder: 0,
      listed: true,
      subscription: {
        channel,
        expireAtSeconds: 0,
        present: true,
        announced: true,
        hearsJoinLeave: true,
        recoverable: true,
      },
    });
    expect(JSON.stringify(attachment)).not.toContain(secret);
  });

  it("[S1][B2] that would be too large isn't written: a subscribe on a channel's socket is answered 106", async () => {
    const channel = newChannel("closed");
    const info = "x".repeat(limits.sessionClaimsBytesMax - 500);
    const socket = await TestSocket.connect(channel, "ada", { info });
    const large = await token({ sub: "ada", channel, info });
    const refusal = { id: 2, error: { code: 106, message: "limit exceeded" } };
    expect(await socket.ask({ id: 2, subscribe: { channel, token: large } })).toStrictEqual(
      refusal,
    );
    await hibernate(channelPlace.holder(channel));
    const small = await token({ sub: "ada", channel, info: 1 });
    expect(await socket.ask({ id: 3, subscribe: { channel, token: small } })).toStrictEqual({
      id: 3,
      subscribe: {},
    });
  });
});

describe.each(awakeVariants)("an attachment of $place.name", (variant) => {
  it("[S1][B2] that would be too large isn't written: the connect is answered 106", async () => {
    const channel = newChannel("closed");
    const large = "x".repeat(limits.sessionClaimsBytesMax);
    const refusal = { id: 1, error: { code: 106, message: "limit exceeded" } };
    const socket = await variant.open(channel);
    const refused = await token({ sub: "ada", info: large });
    expect(await socket.ask({ id: 1, connect: { token: refused } })).toStrictEqual(refusal);
    const fitting = large.slice(0, -100);
    const other = await variant.connect(channel, "ada", { info: fitting });
    await hibernate(variant.place.holder(channel));
    expect(await other.unread()).toStrictEqual([]);
    expect(await attachmentsOf(variant.place.holder(channel))).toContainEqual(
      expect.objectContaining({
        claims: { user: "ada", expireAtSeconds: 0, info: `"${fitting}"` },
      }),
    );
  });

  it("[S1][B2] that would be too large isn't written: a token at the upgrade is answered 413", async () => {
    const channel = newChannel("closed");
    const large = await token({ sub: "ada", info: "x".repeat(limits.sessionClaimsBytesMax) });
    // Read to its end: an object isn't evicted while it answers.
    const refused = await answerOf(await variant.place.upgrade(channel, `?token=${large}`));
    expect(refused.status).toBe(413);
    const small = await token({ sub: "ada", info: "x".repeat(limits.sessionClaimsBytesMax - 100) });
    const socket = await variant.open(channel, `?token=${small}`);
    await hibernate(variant.place.holder(channel));
    expect(await socket.ask({ id: 1, connect: {} })).toMatchObject({ connect: { pong: true } });
  });

  it.each<[string, object | string | null]>([
    ["nothing", null],
    ["text", "session"],
    ["no version", { phase: "connected", client: "a" }],
    ["a version to come", { v: 2, phase: "connected", client: "a" }],
    ["a codec to come", { v: 1, phase: "connected", client: "a", codec: "later" }],
  ])(
    "[V1] that can't be read closes 3010, so that the client comes back: %s",
    async (_, unread) => {
      const channel = newChannel("plain");
      const [lost, kept] = [
        await variant.subscribe(channel, "ada"),
        await variant.subscribe(channel, "bob"),
      ];
      await rewriteAttachments(variant.place.holder(channel), (attachment) =>
        attachment.client === lost.client ? unread : attachment,
      );
      await publish(channel, 1);
      expect(await lost.closed).toStrictEqual({ code: 3010, reason: "insufficient state" });
      expect(await lost.rest()).toStrictEqual([]);
      expect(await kept.line()).toContain('"data":1');
      await hibernate(variant.place.holder(channel));
      expect((await call("presence_stats", { channel })).body).toContain('"num_clients":1');
    },
  );
});
