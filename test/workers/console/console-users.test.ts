import { env, exports } from "cloudflare:workers";
import { describe, expect, it, vi } from "vitest";
import { gatewayName, gatewayNode, shardOf } from "../../../src/contract/object-names.ts";
import { consoleLimits } from "../../../src/features/console/limits.ts";
import { address } from "../support/api-request.ts";
import { configure } from "../support/configure.ts";
import { loseCalls } from "../support/lose-calls.ts";
import { newChannel } from "../support/new-channel.ts";
import { openConfig } from "../support/open-transports.ts";
import { variants } from "../support/variant.ts";

const password = "the-password-of-the-console-tests";
Object.assign(env, { CONSOLE_PASSWORD: password });
configure({ ...openConfig, console: { enabled: true } });

interface Page {
  readonly users: readonly { readonly user: string; readonly connections: number }[];
  readonly anonymous: number;
  readonly incomplete?: true;
}

async function post(path: string, body: object, headers: object = {}): Promise<Response> {
  return exports.default.fetch(address(path), {
    method: "POST",
    body: JSON.stringify(body),
    headers: { Origin: "https://dormouse.example.com", ...headers },
  });
}

async function ask(request: object): Promise<Response> {
  const response = await post("/console/login", { password });
  const [cookie = ""] = (response.headers.get("Set-Cookie") ?? "").split(";");
  return post("/console/api/users", request, { Cookie: cookie });
}

describe.each(variants.filter(({ place }) => !place.oneChannel))(
  "the users of gateways, on $name",
  (variant) => {
    it("[N20] are listed by their IDs, with their connections", async () => {
      const channel = newChannel("room");
      const prefix = `listed-${crypto.randomUUID()}`;
      await variant.connect(channel, `${prefix}-b`);
      await variant.betweenSteps(channel);
      await variant.connect(channel, `${prefix}-a`);
      await variant.connect(channel, `${prefix}-b`);
      await variant.open(channel);
      await variant.betweenSteps(channel);
      const page = await pageOf(ask({ cursor: prefix }));
      expect(page.users.slice(0, 2)).toStrictEqual([
        { user: `${prefix}-a`, connections: 1 },
        { user: `${prefix}-b`, connections: 2 },
      ]);
      const later = await pageOf(ask({ cursor: `${prefix}-a` }));
      expect(later.users[0]).toStrictEqual({ user: `${prefix}-b`, connections: 2 });
    });
  },
);

describe("the question of the console for users", () => {
  it("[N20] is refused with a cursor that no answer gave, and without a login", async () => {
    for (const cursor of [1, "\ud800", "x".repeat(100_000)])
      expect((await ask({ cursor })).status).toBe(400);
    expect((await post("/console/api/users", {})).status).toBe(401);
  });

  it("[N20] says that its answer is incomplete if a gateway doesn't answer", async () => {
    const name = gatewayName({ kind: "pool", region: "lost", index: 0 });
    await list(name);
    expect(await pageOf(ask({}))).not.toHaveProperty("incomplete");
    const warn = vi.spyOn(console, "warn").mockImplementation(() => undefined);
    const restore = loseCalls("connectedUsers");
    expect(await pageOf(ask({}))).toMatchObject({ users: [], incomplete: true });
    restore();
    expect(warn.mock.calls.flat().join("\n")).toContain("question of the console failed");
    warn.mockRestore();
  });

  it("[N20] asks a bounded number of gateways, and says that there are more", async () => {
    const all = consoleLimits.consoleUserGatewaysMax + 1;
    for (let index = 0; index < all; index++)
      await list(gatewayName({ kind: "pool", region: "bound", index }));
    const named = vi.spyOn(env.GATEWAYS, "getByName");
    const page = await pageOf(ask({}));
    expect(named).toHaveBeenCalledTimes(consoleLimits.consoleUserGatewaysMax);
    named.mockRestore();
    expect(page.incomplete).toBe(true);
  });
});

async function pageOf(coming: Promise<Response>): Promise<Page> {
  return (await coming).json();
}

/** Has the directory list a gateway. */
async function list(name: string): Promise<void> {
  const node = gatewayNode(name);
  await env.USERS.getByName(shardOf(node)).list(node);
}
