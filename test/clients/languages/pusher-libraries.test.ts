import type PusherServer from "pusher";
import { type TestContext, afterAll, beforeAll, describe, expect, it } from "vitest";
import { hasJava, JavaEnvironment } from "../../support/environments/java-environment.ts";
import { PythonEnvironment } from "../../support/environments/python-environment.ts";
import { Inbox } from "../../support/inbox.ts";
import { shopApp, shopConfig, shopSecrets } from "../../support/servers/pusher-app.ts";
import { pusherBackend, pusherClient } from "../../support/servers/pusher-client.ts";
import { TestServer } from "../../support/servers/test-server.ts";
import { FrameRelay } from "../../support/sockets/frame-relay.ts";
import { testSecrets } from "../../support/test-tokens.ts";

const secret = shopSecrets.PUSHER_SECRET_SHOP;
const encryption = Buffer.alloc(32, "k").toString("base64");
let server: TestServer;
let backend: PusherServer;

beforeAll(async () => {
  server = await TestServer.start({
    // Pysher says that it comes from a page of the server's own origin.
    config: { ...shopConfig, client: { allowed_origins: ["http://127.0.0.1:*"] } },
    secrets: { ...testSecrets, ...shopSecrets },
  });
  backend = pusherBackend(server.address, { encryptionMasterKeyBase64: encryption });
});
afterAll(() => server.close());

function place() {
  const { hostname: host, port } = new URL(server.address);
  return { host, port };
}

/** A client of pusher-js, with what comes on its channels. */
function follow(test: TestContext, user: string, names: readonly string[]) {
  const client = pusherClient(server.address, backend, user);
  test.onTestFinished(() => client.disconnect());
  const events = new Inbox<readonly [event: string, data: unknown]>();
  client.user.bind_global((event: string, data: unknown) => events.push([event, data]));
  for (const name of names)
    client
      .subscribe(name)
      .bind_global((event: string, data: unknown) => events.push([event, data]));
  return { client, events };
}

const succeeded = "pusher:subscription_succeeded";

describe("libraries of Pusher in Python", () => {
  let python: PythonEnvironment;
  beforeAll(async () => {
    python = await PythonEnvironment.open();
  }, 300_000);

  it("[PU2] [PU10] [PU11] [PU12] the server library publishes, encrypts, and asks who is there", async (test) => {
    const [open, sealed, room] = ["py-open", "private-encrypted-py", "presence-py"];
    const { client, events } = follow(test, "7", [open, sealed, room]);
    client.signin();
    await client.user.signinDonePromise;
    await events.first(([event]) => event === succeeded);
    await expect.poll(() => events.all.filter(([event]) => event === succeeded)).toHaveLength(3);
    const { host, port } = place();
    const options = { app_id: shopApp.id, key: shopApp.key, secret, host, port: Number(port) };
    const app = { ...options, encryption_master_key_base64: encryption };
    const script = python.run(test, "pusher_backend", {
      app,
      public: open,
      sealed,
      room,
      user: "7",
    });
    await script.ended();
    expect(script.all).toEqual([
      { event: "triggered", answer: {} },
      { event: "batch", answer: {} },
      { event: "channel", answer: { occupied: true, user_count: 1, subscription_count: 1 } },
      { event: "channels", answer: { channels: { [room]: { user_count: 1 } } } },
      { event: "users", answer: { users: [{ id: "7" }] } },
    ]);
    await events.first(([event]) => event === "greeting");
    await events.first(([event]) => event === "third");
    await events.first(([event]) => event === "secret");
    const got = events.all.filter(([event]) => !event.startsWith("pusher:"));
    expect(got).toEqual(
      expect.arrayContaining([
        ["order", { text: "ä", id: 1 }],
        ["plain", "no JSON"],
        ["third", [3]],
        ["secret", { pin: 1234 }],
        ["greeting", { hello: "there" }],
      ]),
    );
  });

  it("[PU1] [PU2] [PU4] [PU5] [PU6] Pysher listens, sends an event, and is a member", async (test) => {
    const names = { public: "pysher", private: "private-pysher", presence: "presence-pysher" };
    const { client, events } = follow(test, "js", [names.private, names.presence]);
    await expect.poll(() => events.all.filter(([event]) => event === succeeded)).toHaveLength(2);
    const { host, port } = place();
    const reached = { host, port: Number(port), key: shopApp.key, secret };
    const script = python.run(test, "pusher_client", { ...reached, ...names, user: "py" });
    await script.next("pong");
    for (const kind of ["public", "private", "presence"])
      await script.first(
        ({ on, name }) => on === kind && name === "pusher_internal:subscription_succeeded",
      );
    const [, added] = await events.first(([event]) => event === "pusher:member_added");
    expect(added).toEqual({ id: "py", info: { name: "Py" } });
    await backend.trigger(names.public, "order", { text: "ä" });
    expect(await script.first(({ name }) => name === "order")).toMatchObject({
      on: "public",
      data: '{"text":"ä"}',
    });
    client.send_event("client-js", { at: 1 }, names.private);
    await script.first(({ on, name }) => on === "private" && name === "client-js");
    script.sendLine('{"at": 2}');
    expect((await events.first(([event]) => event === "client-python"))[1]).toEqual({ at: 2 });
    await script.finish();
    await events.first(([event]) => event === "pusher:member_removed");
  });
});

if (hasJava()) {
  describe("libraries of Pusher in Java", () => {
    inJava();
  });
} else {
  it("no library of Pusher in Java is tested: this machine has no JDK of version 17 or later with Maven", () => {
    expect(hasJava()).toBe(false);
  });
}

function inJava(): void {
  let java: JavaEnvironment;
  beforeAll(async () => {
    java = await JavaEnvironment.open();
  }, 300_000);

  /** @param clients where clients connect, if that isn't the server itself */
  function listen(test: TestContext, names: readonly string[], clients = place().port) {
    const { host, port } = place();
    const app = [shopApp.id, shopApp.key, secret];
    return java.run(test, "PusherListen", [host, clients, port, ...app, "java", ...names]);
  }

  it("[PU2] [PU4] [PU5] [PU6] [PU10] the client and the server library do all that there is", async (test) => {
    const names = ["java", "private-java", "presence-java"];
    const { client, events } = follow(test, "js", names);
    await expect.poll(() => events.all.filter(([event]) => event === succeeded)).toHaveLength(3);
    const script = listen(test, names);
    expect(await script.next("here")).toMatchObject({ users: "java,js" });
    for (const name of names) await script.first((one) => one.channel === name);
    const [, added] = await events.first(([event]) => event === "pusher:member_added");
    expect(added).toEqual({ id: "java", info: { name: "Java" } });
    script.sendLine("publish java order ä and more");
    expect(await script.next("published")).toMatchObject({ status: "SUCCESS", text: "{}" });
    expect(await script.next("event")).toMatchObject({ on: "java", data: '"ä and more"' });
    expect((await events.first(([event]) => event === "order"))[1]).toBe("ä and more");
    script.sendLine('trigger client-java {"at":1}');
    expect((await events.first(([event]) => event === "client-java"))[1]).toEqual({ at: 1 });
    client.send_event("client-js", { at: 2 }, "presence-java");
    expect(await script.first(({ name }) => name === "client-js")).toMatchObject({
      on: "presence-java",
      data: '{"at":2}',
    });
    script.sendLine("get /channels/presence-java/users");
    const { text } = await script.next("got");
    expect(typeof text === "string" && JSON.parse(text)).toEqual({
      users: expect.arrayContaining([{ id: "java" }, { id: "js" }]),
    });
    client.disconnect();
    expect(await script.next("removed")).toMatchObject({ user: "js" });
    await script.finish();
    expect(script.allOf("problem")).toEqual([]);
  });

  it("[PU1] the client pings in its own bytes, and is answered", async (test) => {
    const { host, port } = place();
    const pings = new Inbox<string>();
    const address = `ws://${host}:${port}/app/${shopApp.key}?protocol=7&client=java`;
    const relay = await FrameRelay.open(address, async (frame) => {
      if (frame.includes("pusher:ping")) pings.push(frame);
      return "pass";
    });
    test.onTestFinished(() => relay.close());
    const script = listen(
      test,
      ["idle", "private-idle", "presence-idle"],
      new URL(relay.address).port,
    );
    await script.next("here");
    expect(await pings.next()).toBe('{"event": "pusher:ping"}');
    await relay.received.first((frame) => frame.includes("pusher:pong"));
    await pings.count(2);
    await script.finish();
  });
}
