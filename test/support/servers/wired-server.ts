import type { Options, SubscriptionOptions } from "centrifuge";
import { setTimeout as pause } from "node:timers/promises";
import type { TestContext } from "vitest";
import { BreakableNetwork } from "../sockets/breakable-network.ts";
import { openOptions } from "../open-options.ts";
import type { SdkClient } from "../sockets/sdk-client.ts";
import type { TestBackend } from "./test-backend.ts";
import { TestServer } from "./test-server.ts";
import { signToken } from "../test-tokens.ts";
import type { Wire } from "../sockets/wire.ts";

const config = {
  // Clients on streams have to post their pongs within an interval, also while many tests run beside each other.
  client: { ping_interval: "3s", expired_close_delay: "3s", expired_sub_close_delay: "3s" },
  http_stream: { enabled: true },
  sse: { enabled: true },
  rpc: { ping: { enabled: true } },
  channel: {
    without_namespace: openOptions,
    namespaces: [
      { name: "document", ...openOptions, allowed_delta_types: ["fossil"], delta_publish: true },
      { name: "tagged", ...openOptions, allow_tags_filter: true },
    ],
  },
};

/** A server that every wire reaches, where clients may do everything. */
export class WiredServer {
  readonly server: TestServer;

  static async start(): Promise<WiredServer> {
    return new WiredServer(await TestServer.start({ config }));
  }

  private constructor(server: TestServer) {
    this.server = server;
  }

  get backend(): TestBackend {
    return this.server.backend;
  }

  /**
   * A client that is gone when the test is over.
   *
   * @param options more of them, or others
   * @param at another address of the server
   */
  open(
    test: TestContext,
    wire: Wire,
    channel: string,
    options: Partial<Options> = {},
    at?: string,
  ): SdkClient {
    const token = signToken({ sub: "alice" });
    const client = wire.open(this.server, channel, { token, ...options }, at);
    test.onTestFinished(() => client.close());
    return client;
  }

  /** A subscriber behind a network that can break, and both are gone when the test is over. */
  async subscribeBehind(
    test: TestContext,
    wire: Wire,
    channel: string,
    options: Partial<SubscriptionOptions> = {},
  ) {
    const network = await BreakableNetwork.to(this.server.address);
    test.onTestFinished(() => network.close());
    const client = this.open(test, wire, channel, {}, network.address);
    return { network, subscription: await client.subscribed(channel, options) };
  }

  /** Waits until no client is present, and gives the time in milliseconds. */
  async freed(channel: string): Promise<number> {
    const startedAtMs = Date.now();
    // Slowly enough that the many concurrent tests don't keep the server busy.
    while ((await this.backend.presence(channel)).length > 0) await pause(20);
    return Date.now() - startedAtMs;
  }

  close(): Promise<void> {
    return this.server.close();
  }
}
