import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { gatewayName } from "../../../src/contract/object-names.ts";
import { limits } from "../../../src/limits.ts";
import { LingeringClient } from "../../support/sockets/lingering-client.ts";
import { TestServer } from "../../support/servers/test-server.ts";
import { signToken } from "../../support/test-tokens.ts";

let server: TestServer;
/** The runtime's own: the harness's proxy would answer close frames itself. */
let address: string;

beforeAll(async () => {
  server = await TestServer.start({
    config: {
      channel: { without_namespace: { allow_subscribe_for_client: true, presence: true } },
      client: { stale_close_delay: "60s", connection_limit: connectionLimit },
    },
  });
  address = await server.runtimeAddress();
});
afterAll(() => server.close());

/** Enough for one client for each close frame. */
const connectionLimit = 30;
const gateway = gatewayName({ kind: "channel", channel: "news", index: 0 });
const open = () => LingeringClient.open(server.socketAddress("news", address));

/** Whether the runtime has not closed its end of a client's TCP connection, be it established or in CLOSE-WAIT. */
function isHeld({ localPort }: LingeringClient): boolean {
  const [own, other] = [Number(new URL(address).port), localPort].map((port) =>
    port.toString(16).toUpperCase().padStart(4, "0"),
  );
  const row = new RegExp(`:${own} [0-9A-F]+:${other} 0[18] `);
  return ["tcp", "tcp6"].some((file) => row.test(readFileSync(`/proc/net/${file}`, "utf8")));
}

const closeFrame = 0x88;
const textFrame = 0x81;
const reservedFlags = 0x70;
const payload = (code: number, reason: Buffer | string = "") =>
  Buffer.concat([Buffer.from([code >> 8, code & 0xff]), Buffer.from(reason)]);

/** Close frames, with the code of the answer. */
const closes: readonly (readonly [string, Buffer, number])[] = [
  ["nothing", Buffer.alloc(0), 1005],
  ["half a code", Buffer.alloc(1), 1005],
  ...[0, 1, 999, 1004, 1005, 1006, 1015, 5_000, 65_535].map(
    (code) => [`code ${code}`, payload(code), 1005] as const,
  ),
  ...[1_000, 1_001, 1_016, 2_999, 3_000, 4_999].map(
    (code) => [`code ${code}`, payload(code), code] as const,
  ),
  ["code 1005 and a reason", payload(1005, "over"), 1005],
  ["a reason of 123 bytes", payload(4_000, "a".repeat(123)), 4_000],
  ["a reason of 124 bytes", payload(4_000, "a".repeat(124)), 1005],
  ["a reason of 60,000 bytes", payload(4_000, "a".repeat(60_000)), 1005],
  [
    "a reason that grows when its invalid bytes are replaced",
    payload(4_000, Buffer.alloc(42, 0xff)),
    1005,
  ],
  ["a reason with invalid bytes", payload(4_000, Buffer.alloc(41, 0xff)), 4_000],
];

/** Opens a client, has it sent that it closes, and waits for the end of its socket. */
async function close(client: LingeringClient, frame: Buffer): Promise<number> {
  expect(isHeld(client)).toBe(true);
  client.sendFrame(closeFrame, frame);
  const code = await client.closeCode();
  await client.ended;
  await expect.poll(() => isHeld(client)).toBe(false);
  return code;
}

describe.runIf(process.platform === "linux")("a client that closes", () => {
  it.each(closes)("[B15] with %s is answered and forgotten", async (_, frame, answer) => {
    expect(await close(await open(), frame)).toBe(answer);
  });

  it("[B15] is answered and forgotten by an object that was evicted", async () => {
    const clients = await Promise.all(closes.map(async (one) => ({ one, client: await open() })));
    for (const { one, client } of clients) {
      const [name, frame, answer] = one;
      await server.evict("news");
      expect([name, await close(client, frame)]).toEqual([name, answer]);
    }
  });

  it("[B15] without reading, or by breaking the protocol, counts until it is gone", async () => {
    const unread = await open();
    unread.send(JSON.stringify({ id: 1, connect: { token: signToken({ sub: "ada" }) } }));
    unread.send(JSON.stringify({ id: 2, subscribe: { channel: "news" } }));
    const present = async () => (await server.backend.presence("news")).length;
    await expect.poll(present).toBe(1);
    unread.stopReading();
    // What is published beyond the buffers of TCP waits in the runtime, until the client is too slow.
    while ((await present()) > 0) await server.backend.publish("news", "x".repeat(100_000));
    unread.sendFrame(closeFrame, payload(1_000));
    for (let count = 1; count < limits.socketsPerConnection * connectionLimit; count++) {
      const broken = await open();
      broken.sendFrame(textFrame | reservedFlags, Buffer.from("{}"));
      expect(await broken.closeCode()).toBe(1_002);
    }
    // The channel's object is full, and the edge takes the next client to a gateway of the channel.
    expect(await server.gatewayAsleep(gateway)).toBe(true);
    await open();
    expect(await server.gatewayAsleep(gateway)).toBe(false);
  });
});
