import { describe, expect, it } from "vitest";
import type { Config } from "../../../src/config/config.ts";
import type { Handover } from "../../../src/contract/handover.ts";
import { limits } from "../../../src/limits.ts";
import { GatewayHost } from "../../../src/object/gateway-host.ts";
import type { PlatformSocket } from "../../../src/object/platform.ts";
import { UsersHost } from "../../../src/object/users-host.ts";
import { configured } from "../../support/configured.ts";
import { ScriptedPlatform } from "./scripted-platform.ts";

/** A socket whose client takes everything and answers nothing. */
function silentSocket(): PlatformSocket {
  let attachment: object = {};
  return {
    send: () => undefined,
    close: () => undefined,
    serializeAttachment: (saved) => (attachment = saved),
    deserializeAttachment: () => attachment,
  };
}

/**
 * A gateway, and clients that come to it.
 *
 * @param first the frame that comes with each client
 */
function gatewayWith(first = '{"id":1,"connect":{}}'): {
  readonly platform: ScriptedPlatform;
  readonly config: Config;
  readonly host: GatewayHost;
  readonly come: () => PlatformSocket;
} {
  const platform = new ScriptedPlatform("eu/0");
  const config = configured({
    client: { allow_anonymous_connect_without_token: true },
  });
  const host = new GatewayHost(platform, config);
  const handover: Handover = { v: 1, keepalive: "client", ...(first !== "" && { first }) };
  return {
    platform,
    config,
    host,
    come: () => {
      const socket = silentSocket();
      host.accept(handover, undefined, () => {
        platform.open.push(socket);
        return socket;
      });
      platform.pass(0);
      return socket;
    },
  };
}

describe("an object's host", () => {
  it("[B11] drops a closed socket after its last open client has left", () => {
    const { platform, host, come } = gatewayWith();
    const [lingering, leaving] = [come(), come()];
    host.message(lingering, "not a frame", () => undefined);
    // What the first connections were an occasion for is done, and no alarm is set for the closed one.
    platform.pass(limits.closeAnswerMs);
    platform.alarmAtMs = Number.POSITIVE_INFINITY;
    host.alarm(() => undefined);
    platform.pass(0);
    expect(platform.alarmAtMs).toBeGreaterThan(platform.nowMs() + limits.closeAnswerMs);
    host.closed(leaving, 1000, "", true);
    platform.pass(0);
    expect(platform.alarmAtMs).toBeLessThanOrEqual(platform.nowMs() + limits.closeAnswerMs);
  });

  it("[S5] sets the alarm also after a keep-alive text", () => {
    const { platform, config, come } = gatewayWith("");
    const socket = come();
    platform.alarmAtMs = Number.POSITIVE_INFINITY;
    new GatewayHost(platform, config).message(socket, "{}", () => undefined);
    expect(platform.alarmAtMs).toBe(platform.nowMs() + config.client.staleCloseDelayMs);
  });

  it("[U3] answers an order once, also if its last holder answers at the last moment", () => {
    const platform = new ScriptedPlatform("7");
    const host = new UsersHost(platform, configured());
    host.register("gateway-eu-0", ["user:ann"]);
    const answers: string[] = [];
    const order = { method: "disconnect", code: { code: 3000, reason: "" } } as const;
    host.order("user:ann", [order], ({ outcome }) => answers.push(outcome));
    expect(platform.answers).toHaveLength(1);
    platform.pass(60_000);
    for (const answer of platform.answers) answer();
    platform.pass(60_000);
    expect(answers).toEqual(["pending"]);
  });
});
