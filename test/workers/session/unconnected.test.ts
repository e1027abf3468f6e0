import { env } from "cloudflare:workers";
import { afterAll, describe, expect, it } from "vitest";
import { limits } from "../../../src/limits.ts";
import { fullHeader, type Handover } from "../../../src/contract/handover.ts";
import { newChannel } from "../support/new-channel.ts";
import { type Holder, requestUpgrade } from "../support/place.ts";
import { TestSocket } from "../support/test-socket.ts";
import { token } from "../support/sign-token.ts";
import { variants } from "../support/variant.ts";

// As many as can be opened in a moment.
Object.assign(limits, { unconnectedMax: 40, unconnectedPerAddressMax: 10 });
const { unconnectedMax, unconnectedPerAddressMax } = limits;
const address = "192.0.2.1";
const claims = { user: "ada", expireAtSeconds: 0 };

// More connections than the bounds of these tests.
const { config } = env;
Object.assign(env, { config: { client: { connection_limit: 5_000 } } });
afterAll(() => void Object.assign(env, { config }));

/** Opens sockets to one object. They are kept: the garbage collection closes a socket without a reference. */
class Opener {
  readonly sockets: TestSocket[] = [];
  readonly #holder: Holder;

  constructor(holder: Holder) {
    this.#holder = holder;
  }

  /** Opens a socket as the edge asks for it, and gives the object's answer. */
  async open(handover: Partial<Handover> = {}): Promise<Response> {
    const response = await requestUpgrade(this.#holder, handover);
    if (response.webSocket !== null) this.sockets.push(TestSocket.on(response));
    // An object with an unread response can't be evicted.
    await response.body?.cancel();
    return response;
  }

  /** Opens sockets until the object refuses one, and says how many. */
  async openUntilRefused(handover: Partial<Handover> = {}): Promise<number> {
    let count = 0;
    while (count <= unconnectedMax && (await this.open(handover)).status === 101) count++;
    return count;
  }
}

describe.each(variants)("$name: sockets without a token", (variant) => {
  it("[B13] [B24] are bounded by their address until they connect or are gone", async () => {
    const channel = newChannel("");
    const opener = new Opener(variant.place.holder(channel));
    expect(await opener.openUntilRefused({ address })).toBe(unconnectedPerAddressMax);
    await variant.betweenSteps(channel);
    const refused = await opener.open({ address });
    expect(refused.status).toBe(503);
    expect(Number(refused.headers.get("Retry-After"))).toBeGreaterThanOrEqual(2);
    // So the edge doesn't try another object.
    expect(refused.headers.get(fullHeader)).toBeNull();
    for (const other of [{ address: "192.0.2.2" }, {}, { claims }])
      expect((await opener.open(other)).status).toBe(101);

    const [first, second, third] = opener.sockets;
    await first?.ask({ id: 1, connect: { token: await token({ sub: "ada" }) } });
    await variant.betweenSteps(channel);
    second?.close();
    await second?.closed;
    await variant.betweenSteps(channel);
    // This one is closed by the server, and answers the close.
    third?.send({ id: 1, connect: {} });
    expect(await third?.closed).toMatchObject({ code: 3501 });
    await variant.betweenSteps(channel);
    expect(await opener.openUntilRefused({ address })).toBe(3);
  });

  it("[B13] [B24] fill the object, but not for those with a token and those of the edge", async () => {
    const channel = newChannel("");
    const opener = new Opener(variant.place.holder(channel));
    expect(await opener.openUntilRefused()).toBe(unconnectedMax);
    await variant.betweenSteps(channel);
    const refused = await opener.open({ address });
    expect(refused.status).toBe(503);
    expect(refused.headers.get(fullHeader)).toBe("1");
    for (const other of [{ claims }, { emulated: true } as const])
      expect((await opener.open(other)).status).toBe(101);
    await opener.sockets[0]?.ask({ id: 1, connect: { token: await token({ sub: "ada" }) } });
    await variant.betweenSteps(channel);
    expect(await opener.openUntilRefused()).toBe(1);
  });
});
