import type { ServerSubscription } from "../../../src/access/claims.ts";
import type { VerifiedTokens } from "../../../src/session/ports.ts";
import type { TestConnection } from "./test-connection.ts";
import type { ManyChannelsFixture } from "./many-channels-fixture.ts";
import { connectionToken } from "./verified-tokens.ts";

/** The simplest of all. */
export const connect = `{"id":1,"connect":{}}`;

/** A token of user 42 that names these subscriptions. */
export function naming(...subscriptions: readonly (string | ServerSubscription)[]): VerifiedTokens {
  return connectionToken("42", {
    subscriptions: subscriptions.map((one) =>
      typeof one === "string" ? { channel: one, override: {} } : one,
    ),
  });
}

/** A connect reply with this in its `subs`; without the field for none. */
export function connected(subs?: string): string {
  const field = subs === undefined ? "" : `"subs":${subs},`;
  return `{"id":1,"connect":{"client":"c1","version":"test",${field}"ping":25,"pong":true}}`;
}

/** A connection whose server-side subscriptions to these channels have begun; its frames and calls are dropped. */
export function opened(
  fixture: ManyChannelsFixture,
  ...channels: readonly string[]
): TestConnection {
  const connection = fixture.open();
  fixture.send(connection, connect, naming(...channels));
  for (const channel of channels) fixture.channels.acceptSubscribe(channel);
  connection.takeSent();
  fixture.channels.takeCalls();
  return connection;
}
