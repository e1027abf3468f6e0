import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, describe, expect, it, vi } from "vitest";
import type { SessionSnapshot } from "../../src/session/snapshot.ts";
import { limits } from "../../src/limits.ts";
import { parseJsonText } from "../../src/protocol/json-text.ts";
import { answerOf, call, keptData, publish } from "./api-request.ts";
import { newChannel } from "./new-channel.ts";
import { testConfig } from "./test-config.ts";
import { TestSocket, upgrade } from "./test-socket.ts";
import { token } from "./token.ts";

afterEach(() => {
  vi.useRealTimers();
});

function sleep(channel: string): Promise<void> {
  return evictDurableObject(env.CHANNELS.getByName(channel), { webSockets: "hibernate" });
}

/** Rewrites what each session left in its socket's attachment, and has the object wake with it. */
async function rewriteAttachments(
  channel: string,
  rewrite: (snapshot: SessionSnapshot) => unknown,
): Promise<void> {
  await runInDurableObject(env.CHANNELS.getByName(channel), (_, state) => {
    for (const socket of state.getWebSockets()) {
      socket.serializeAttachment(rewrite(socket.deserializeAttachment()));
    }
  });
  await sleep(channel);
}

/** The attachments of a channel's sockets, as they are now. */
function attachments(channel: string): Promise<readonly SessionSnapshot[]> {
  return runInDurableObject(env.CHANNELS.getByName(channel), (_, state) =>
    state.getWebSockets().map((socket) => socket.deserializeAttachment()),
  );
}

describe("an object that sleeps", () => {
  it("[S2] is woken by a publish and delivers it to everybody", async () => {
    const channel = newChannel("plain");
    const sockets = [
      await TestSocket.subscribe(channel, "ada"),
      await TestSocket.subscribe(channel, "bob"),
      await TestSocket.connect(channel, "not-subscribed"),
    ];
    await sleep(channel);
    await publish(channel, "wake up");
    const [ada, bob, other] = sockets;
    const push = `{"push":{"channel":"${channel}","pub":{"data":"wake up"}}}`;
    expect(await ada?.unread()).toStrictEqual([push]);
    expect(await bob?.unread()).toStrictEqual([push]);
    expect(await other?.unread()).toStrictEqual([]);
  });

  it("[S2] hears of everybody who left in the meantime, and tells each leave once", async () => {
    const channel = newChannel("room");
    const stayed = await TestSocket.subscribe(channel, "stayed");
    await stayed.line(); // its own join
    const left = [];
    for (const user of ["a", "b", "c"]) {
      left.push(await TestSocket.subscribe(channel, user));
      await stayed.line(); // the join
    }
    await sleep(channel);
    for (const socket of left) socket.close();
    const leaves = [await stayed.line(), await stayed.line(), await stayed.line()];
    const users = new Set(leaves.map((line) => /"leave".*"user":"(\w)"/.exec(line)?.[1]));
    expect(users).toStrictEqual(new Set(["a", "b", "c"]));
    expect(await stayed.unread()).toStrictEqual([]);
  });

  it("[S3] doesn't do so with collected publications: they come by themselves, without another event", async () => {
    // The clock stands still, so that the second publication always comes too soon after the first frame.
    vi.useFakeTimers({ toFake: ["Date"] });
    const channel = newChannel("plain");
    const sockets: TestSocket[] = [];
    for (let count = 0; count < testConfig.client.connection_limit; count++) {
      sockets.push(await TestSocket.subscribe(channel, "ada"));
    }
    await publish(channel, 1);
    await publish(channel, 2);
    await publish(channel, 3);
    const asleep = sleep(channel);
    for (const socket of sockets) expect(await socket.frame()).toContain('"data":1');
    vi.setSystemTime(Date.now() + 1_000);
    const push = (data: number) => `{"push":{"channel":"${channel}","pub":{"data":${data}}}}`;
    for (const socket of sockets) expect(await socket.frame()).toBe(`${push(2)}\n${push(3)}`);
    await asleep;
  });
});

describe("a session that we closed", () => {
  it("[S4] stays closed though its socket is still listed: no publication, no answer, no presence, no leave", async () => {
    const channel = newChannel("room");
    const [ada, bob] = [
      await TestSocket.subscribe(channel, "ada"),
      await TestSocket.subscribe(channel, "bob"),
    ];
    expect(await bob.line()).toContain('"join"');
    expect([await ada.line(), await ada.line()]).toHaveLength(2); // both joins
    await rewriteAttachments(channel, (snapshot) =>
      snapshot.client === ada.client ? { ...snapshot, phase: "closed" } : snapshot,
    );
    await publish(channel, 1);
    ada.send({ id: 3, publish: { channel, data: 2 } });
    ada.send({ id: 4, presence: { channel } });
    expect((await call("presence_stats", { channel })).body).toContain('"num_clients":1');
    expect(await bob.unread()).toStrictEqual([expect.stringContaining('"data":1')]);
    ada.close();
    await ada.closed;
    await sleep(channel);
    expect(await bob.unread()).toStrictEqual([]);
    expect(await ada.rest()).toStrictEqual([]);
    expect(await keptData(channel)).toStrictEqual(["1"]);
  });

  it("[S4][B5] takes nobody's place", async () => {
    const channel = newChannel("plain");
    for (let count = 0; count < testConfig.client.connection_limit; count++) {
      await TestSocket.open(channel);
    }
    // Read to its end: an object isn't put to sleep while it answers.
    expect((await answerOf(await upgrade(channel))).status).toBe(503);
    let closed = 0;
    await rewriteAttachments(channel, (snapshot) =>
      closed++ === 0 ? { ...snapshot, phase: "closed" } : snapshot,
    );
    expect((await upgrade(channel)).status).toBe(101);
    expect((await upgrade(channel)).status).toBe(503);
  });

  it("[S4] leaves that in its attachment", async () => {
    const channel = newChannel("room");
    const socket = await TestSocket.subscribe(channel, "ada");
    await runInDurableObject(env.CHANNELS.getByName(channel), async (instance, state) => {
      const [ours] = state.getWebSockets();
      if (ours === undefined) throw new Error("no socket is listed");
      await instance.webSocketMessage(ours, "no command");
      const { phase, subscription } = ours.deserializeAttachment();
      expect({ phase, subscription }).toStrictEqual({ phase: "closed", subscription: undefined });
    });
    expect((await socket.closed).code).toBe(3501);
  });
});

describe("an attachment", () => {
  it("[S1] has all that a session is, and no token", async () => {
    const channel = newChannel("room");
    const secret = await token({ sub: "ada", info: { n: 1 } });
    const socket = await TestSocket.open(channel, "?keepalive=client");
    await socket.ask({ id: 1, connect: { token: secret } });
    await socket.ask({ id: 2, subscribe: { channel } });
    const [snapshot] = await attachments(channel);
    expect(snapshot).toStrictEqual({
      v: 1,
      phase: "connected",
      client: socket.client,
      openedAtMs: expect.any(Number),
      keepalive: "client",
      claims: { user: "ada", expireAtSeconds: 0, info: '{"n":1}' },
      subscription: {
        channel,
        expireAtSeconds: 0,
        present: true,
        announced: true,
        hearsJoinLeave: true,
      },
    });
    expect(JSON.stringify(snapshot)).not.toContain(secret);
  });

  it("[S1][B2] that would be too large isn't written: the connect or subscribe is answered 106", async () => {
    const channel = newChannel("closed");
    const refusal = { code: 106, message: "limit exceeded" };
    const info = "é".repeat(limits.sessionSnapshotBytesMax / 2);
    const socket = await TestSocket.open(channel);
    const large = await token({ sub: "ada", info });
    expect(await socket.ask({ id: 1, connect: { token: large } })).toStrictEqual({
      id: 1,
      error: refusal,
    });
    const other = await TestSocket.connect(channel, "ada", { info: info.slice(0, 2_000) });
    const subscription = await token({ sub: "ada", channel, info: info.slice(0, 2_000) });
    expect(await other.ask({ id: 2, subscribe: { channel, token: subscription } })).toStrictEqual({
      id: 2,
      error: refusal,
    });
    await sleep(channel);
    const small = await token({ sub: "ada", channel, info: 1 });
    expect(await other.ask({ id: 3, subscribe: { channel, token: small } })).toStrictEqual({
      id: 3,
      subscribe: {},
    });
  });

  it("[V1] with fields of a later release is understood", async () => {
    const channel = newChannel("plain");
    const socket = await TestSocket.subscribe(channel, "ada");
    await rewriteAttachments(channel, (snapshot) => ({
      ...snapshot,
      later: { a: 1 },
      claims: { ...snapshot.claims, later: "x" },
      subscription: { ...snapshot.subscription, later: [1] },
    }));
    await publish(channel, 1);
    expect(await socket.line()).toContain('"data":1');
    expect((await call("presence", { channel })).body).toBe(
      `{"result":{"presence":{"${socket.client}":{"user":"ada","client":"${socket.client}"}}}}`,
    );
  });

  it("[V1] without the fields that are optional is understood", async () => {
    const channel = newChannel("plain");
    const socket = await TestSocket.connect(channel, "ada");
    await rewriteAttachments(channel, ({ v, phase, client, openedAtMs, keepalive }) => ({
      v,
      phase,
      client,
      openedAtMs,
      keepalive,
    }));
    socket.send({ id: 2, presence_stats: { channel } });
    // Without claims it is nobody's, and nobody may ask.
    expect(await socket.line()).toContain('"code":103');
  });

  it.each<[string, unknown]>([
    ["nothing", null],
    ["text", "session"],
    ["no version", { phase: "connected", client: "a" }],
    ["a version to come", { v: 2, phase: "connected", client: "a" }],
  ])(
    "[V1] that can't be read closes 3010, so that the client comes back: %s",
    async (_, unread) => {
      const channel = newChannel("plain");
      const [lost, kept] = [
        await TestSocket.subscribe(channel, "ada"),
        await TestSocket.subscribe(channel, "bob"),
      ];
      await rewriteAttachments(channel, (snapshot) =>
        snapshot.client === lost.client ? unread : snapshot,
      );
      await publish(channel, 1);
      expect(await lost.closed).toStrictEqual({ code: 3010, reason: "insufficient state" });
      expect(await lost.rest()).toStrictEqual([]);
      expect(await kept.line()).toContain('"data":1');
      await sleep(channel);
      expect((await call("presence_stats", { channel })).body).toContain('"num_clients":1');
    },
  );
});

describe("a call from an edge of the next release", () => {
  it("[V1] with fields that this one doesn't know is carried out", async () => {
    const channel = newChannel("ring");
    const data = parseJsonText('{"n":1.0}');
    if (data === undefined) throw new Error("not JSON");
    const request = {
      data,
      skipHistory: false,
      idempotencyKey: "",
      version: 0n,
      versionEpoch: "",
      delta: false,
      later: { a: 1 },
    };
    const publication = { method: "publish", request, later: true } as const;
    const reading = {
      method: "history",
      request: { limit: -1, reverse: false, later: "x" },
    } as const;
    const removal = { method: "history_remove", later: 1 } as const;
    const answered = await env.CHANNELS.getByName(channel).execute([publication, reading, removal]);
    if (answered.outcome !== "answers") throw new Error(answered.outcome);
    const [published, history, removed] = answered.answers.map((answer) => JSON.stringify(answer));
    expect(published).toContain('offset\\":1');
    expect(history).toContain('{\\"data\\":{\\"n\\":1.0},\\"offset\\":1}');
    expect(removed).toBe('{"result":"{}"}');
  });
});
