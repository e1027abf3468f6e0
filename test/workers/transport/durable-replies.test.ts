import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { call } from "../support/api-request.ts";
import { configure } from "../support/configure.ts";
import { newChannel } from "../support/new-channel.ts";
import { openConfig } from "../support/open-transports.ts";
import { token } from "../support/sign-token.ts";
import { emulate, TestStream } from "../support/test-stream.ts";
import { TestSocket } from "../support/test-socket.ts";

const durable = {
  name: "durable",
  allow_subscribe_for_client: true,
  allow_publish_for_client: true,
  history_size: 10,
  history_ttl: "5m",
};
configure({ ...openConfig, channel: { ...openConfig.channel, namespaces: [durable] } });

/** A client that is connected to a channel's object. */
interface Client {
  send(command: object): Promise<void>;
  /** What the client receives up to a text. */
  upTo(text: string): Promise<string>;
  /** What the client still receives until its connection ends. */
  rest(): Promise<string>;
}

async function onSocket(channel: string, commands: readonly object[]): Promise<Client> {
  const socket = await TestSocket.open(channel);
  socket.send(...commands);
  return {
    send: async (command) => socket.send(command),
    upTo: (text) => socket.lineWith(text),
    rest: async () => (await socket.rest()).join("\n"),
  };
}

async function onStream(
  transport: string,
  channel: string,
  commands: readonly object[],
): Promise<Client> {
  const stream = await TestStream.open(`/channel/${encodeURIComponent(channel)}/${transport}`, {
    method: "POST",
    body: commands.map((command) => JSON.stringify(command)).join("\n"),
  });
  const node = `channel:${channel}`;
  const reply = await stream.upTo(`"node":"${node}"}}`);
  const session = /"session":"([^"]+)"/.exec(reply)?.[1] ?? "";
  return {
    send: async (command) => void (await emulate(session, node, JSON.stringify(command))),
    upTo: (text) => stream.upTo(text),
    rest: () => stream.rest(),
  };
}

/** Has each commit of a publication fail, after the object's code has carried everything out. */
function failCommits(channel: string): Promise<void> {
  return runInDurableObject(env.CHANNELS.getByName(channel), (_, { storage: { sql } }) => {
    sql.exec(`CREATE TABLE missing (id INTEGER PRIMARY KEY);
      CREATE TABLE failing (id INTEGER REFERENCES missing (id) DEFERRABLE INITIALLY DEFERRED);
      CREATE TRIGGER inserted AFTER INSERT ON publication BEGIN INSERT INTO failing VALUES (1); END`);
  });
}

const transports: readonly (readonly [string, typeof onSocket])[] = [
  ["a socket", onSocket],
  ["sse", (...setup) => onStream("sse", ...setup)],
  ["http_stream", (...setup) => onStream("http_stream", ...setup)],
];

describe.each(transports)("a client on %s", (_, open) => {
  describe.each(["awake", "evicted"])("of an object that is %s", (state) => {
    it.each(["a subscriber", "no subscriber"])(
      "[O7] isn't told of its publication before that is durable: %s",
      async (kind) => {
        const channel = newChannel("durable");
        const connect = { id: 1, connect: { token: await token({ sub: "ada" }) } };
        const isSubscriber = kind === "a subscriber";
        const subscribe = isSubscriber ? [{ id: 2, subscribe: { channel } }] : [];
        const client = await open(channel, [connect, ...subscribe]);
        if (isSubscriber) await client.upTo(`"id":2`);
        await client.send({ id: 3, publish: { channel, data: "kept" } });
        await client.upTo(`"id":3`);
        await failCommits(channel);
        if (state === "evicted")
          await evictDurableObject(env.CHANNELS.getByName(channel), { webSockets: "hibernate" });
        await client.send({ id: 4, publish: { channel, data: "lost" } });
        const rest = await client.rest();
        expect(rest).not.toContain(`"id":4`);
        expect(rest).not.toContain("lost");
        const { body } = await call("history", { channel, limit: -1 });
        expect(body).toContain(`"publications":[{"data":"kept",`);
        expect(body).not.toContain("lost");
      },
    );
  });
});
