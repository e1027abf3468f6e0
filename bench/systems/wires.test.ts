import { createHash, createHmac } from "node:crypto";
import { expect, it } from "vitest";
import { NumberedRequest } from "../load/post-request.ts";
import { publicationData } from "../load/publication-data.ts";
import { type Caller, marker, tokenSecret } from "./wire.ts";
import { peerWire } from "./peer-wire.ts";
import { wires } from "./wires.ts";

const data = `{"text":"${marker}1"}`;
const caller: Caller = {
  channel: "chat 1",
  token: "header.claims.signature",
  since: { offset: 7, epoch: "abcdefgh" },
};
const peer = peerWire({
  name: "peer:x",
  sockets: { host: "x", port: 80, path: "/channel/%7Bchannel%7D/websocket" },
  api: { host: "y", port: 81, path: "/base/api" },
  key: "the peer's key",
  protocol: "centrifugo",
});
const pusher = peerWire({
  name: "peer:y",
  sockets: { host: "x", port: 80, path: "/app/shop-key" },
  api: { host: "y", port: 81, path: "/apps/1001" },
  key: "the application's secret",
  protocol: "pusher",
});
const peers = { peer, pusher };
const every = [...Object.entries(wires), ...Object.entries(peers)].map(([name, wire]) => ({
  name,
  wire,
}));
const batching = every.filter(({ name }) => !["partyserver", "null", "pusher"].includes(name));
const dormouse = every.filter(({ name }) => /^(?:channel|gateway|peer$)/.test(name));

const receiving = every.filter(({ name }) => name !== "null");

const markersIn = (text: string): number => text.split(marker).length - 1;

it.each(every)("$name publishes the data with its marker once", ({ wire }) => {
  const { path, headers, body } = wire.publish(caller.channel, data);
  expect(markersIn(body)).toBe(1);
  expect(markersIn(path + JSON.stringify(headers))).toBe(0);
});

it.each(every)("$name has no marker in other requests", ({ wire }) => {
  const { path, steps } = wire.connectScript(caller);
  const sent = [path, ...steps.flatMap(({ send, answer }) => [send, answer])];
  expect(markersIn(sent.join("\n"))).toBe(0);
  expect(markersIn(JSON.stringify(wire.ping ?? ""))).toBe(0);
  expect(markersIn(wire.receipt ?? "")).toBe(0);
  expect(markersIn(tokenSecret)).toBe(0);
});

it.each(every)("$name has paths that are valid in a request", ({ wire }) => {
  const { path } = wire.connectScript(caller);
  expect([path, wire.publish(caller.channel, data).path]).toEqual([
    expect.stringMatching(/^\/[!-~]*$/),
    expect.stringMatching(/^\/[!-~]*$/),
  ]);
});

it.each(receiving)("$name has a receipt that is one line", ({ wire }) => {
  expect(wire.receipt).toMatch(/^.+$/);
});

it.each(batching)("$name names all channels of a batch in JSON", ({ wire }) => {
  const post = wire.publishBatch?.(["one", "two"], data);
  const body = JSON.stringify(JSON.parse(post?.body ?? ""));
  expect(body).toContain('"one"');
  expect(body).toContain('"two"');
  expect(body).toContain(JSON.stringify(JSON.parse(data)));
});

it.each(dormouse)("$name connects with the token and recovers from the position", ({ wire }) => {
  const [connect, subscribe] = wire.connectScript(caller).steps.map(({ send }) => JSON.parse(send));
  expect(connect).toEqual({ id: 1, connect: { token: caller.token } });
  expect(subscribe).toEqual({
    id: 2,
    subscribe: { channel: caller.channel, recover: true, offset: 7, epoch: "abcdefgh" },
  });
});

it.each(dormouse)("$name sends neither token nor position if there are none", ({ wire }) => {
  const steps = wire.connectScript({ channel: "chat", token: "" }).steps;
  expect(steps.map(({ send }) => JSON.parse(send))).toEqual([
    { id: 1, connect: {} },
    { id: 2, subscribe: { channel: "chat" } },
  ]);
});

it("a peer gets its own addresses and key", () => {
  expect(peer.connectScript(caller).path).toBe("/channel/chat%201/websocket");
  expect(peer.publish(caller.channel, data)).toMatchObject({
    path: "/base/api/publish",
    headers: { "X-API-Key": "the peer's key" },
  });
  expect(peer.publishBatch?.([caller.channel], data).path).toBe("/base/api/batch");
});

it("a peer of the Pusher protocol gets requests that its application has signed, each with its own body", () => {
  const post = pusher.publish("news", data);
  for (const number of ["1", "2"]) {
    const body = post.body.replace("^1", `^${number}`);
    const [path = "", query = ""] = (post.pathOf?.(body) ?? "").split("?");
    const { auth_signature: signature = "", ...others } = Object.fromEntries(
      new URLSearchParams(query),
    );
    const text = Object.entries(others).map(([name, value]) => `${name}=${value}`);
    const signed = `POST\n${path}\n${text.join("&")}`;
    expect(signature).toBe(
      createHmac("sha256", "the application's secret").update(signed).digest("hex"),
    );
    expect(others).toMatchObject({
      auth_key: "shop-key",
      body_md5: createHash("md5").update(body).digest("hex"),
    });
  }
  const together = pusher.publishBatch?.(["one", "two"], data).body ?? "";
  expect(JSON.parse(together)).toEqual({ name: "bench", channels: ["one", "two"], data });
  expect(post.path).toMatch(/^\/apps\/1001\/events\?/);
  expect(pusher.connectScript(caller).path).toMatch(/^\/app\/shop-key\?protocol=7/);
});

it("a post whose path signs it is signed again with each number", () => {
  const numbered = new NumberedRequest(pusher.publish("news", publicationData(0, 19)), {
    host: "y",
    port: 81,
  });
  const hashes = [1, 2].map((index) => {
    const [head = "", body = ""] = String(numbered.numbered(index)).split("\r\n\r\n");
    expect(body).toContain(`^100000${index}`);
    expect(head).toContain(createHash("md5").update(body).digest("hex"));
    return head;
  });
  expect(hashes[0]).not.toBe(hashes[1]);
});
