import type { TestContext } from "vitest";
import type { PythonEnvironment } from "./python-environment.ts";
import type { PythonScript } from "./python-script.ts";
import type { TestServer } from "../servers/test-server.ts";
import { signToken } from "../test-tokens.ts";

/**
 * Starts the official Python client of a user, subscribed to all the channels on one socket, and hence on a gateway.
 */
export async function pythonSubscriber(
  test: TestContext,
  python: PythonEnvironment,
  server: TestServer,
  subscriber: {
    readonly user: string;
    readonly channels: readonly string[];
    readonly protobuf?: boolean;
  },
): Promise<PythonScript> {
  const { user, channels, protobuf = false } = subscriber;
  const script = python.run(test, "listen", {
    address: server.gatewayAddress(),
    token: signToken({ sub: user, info: { name: user } }),
    subscriptions: channels.map((channel) => ({ channel })),
    protobuf,
  });
  await script.next("subscribed", channels.length);
  return script;
}
