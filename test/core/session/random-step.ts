import * as fc from "fast-check";
import type { VerifiedTokens } from "../../../src/session/ports.ts";
import { json } from "../api/channel-config.ts";
import type { TestConnection } from "./test-connection.ts";
import { type ChannelFixture, startMs } from "./channel-fixture.ts";
import {
  connectionToken,
  expiredToken,
  invalidToken,
  subscriptionToken,
} from "./verified-tokens.ts";

/** An event of a fixture. It has the same effect on every fixture with the same events before. */
interface SessionEvent {
  /** For the report of a failure. */
  readonly label: string;
  readonly apply: (fixture: ChannelFixture) => void;
}

export interface Step {
  readonly event: SessionEvent;
  /** Whether the object hibernates just before the event. */
  readonly hibernatesBefore: boolean;
}

interface ClientCommand {
  readonly command: object;
  readonly tokens: VerifiedTokens;
}

const socketCount = 3;
const anySocket = fc.nat(socketCount - 1);
/** Mostly the same one, because another's token closes the connection. */
const anyUser = mostly(fc.constant("42"), fc.constantFrom("7", ""));
const anyEnd = fc.constantFrom(0, 0, startMs / 1000 + 30, startMs / 1000 + 400);
const anyInfo = fc.constantFrom({}, { info: json(`{"n":1.0}`) }, { info: json(`"zoë"`) });
const noTokens = fc.constant<VerifiedTokens>({});

const anyConnectTokens = mostly(
  fc
    .record({ user: anyUser, end: anyEnd, info: anyInfo })
    .map(({ user, end, info }) => connectionToken(user, { expireAtSeconds: end, ...info })),
  fc.constantFrom<VerifiedTokens>({}, expiredToken, invalidToken),
);

const anySubscribeTokens = fc.oneof(
  { weight: 6, arbitrary: noTokens },
  {
    weight: 6,
    arbitrary: fc
      .record({ user: anyUser, end: anyEnd, info: anyInfo, presence: fc.boolean() })
      .map(({ user, end, info, presence }) =>
        subscriptionToken({ user, expireAtSeconds: end, override: { presence }, ...info }),
      ),
  },
  { weight: 1, arbitrary: fc.constantFrom<VerifiedTokens>(expiredToken, invalidToken) },
);

const anySubscribe = fc.record(
  {
    recover: fc.boolean(),
    epoch: fc.constantFrom("", "epoch1", "epoch2"),
    offset: fc.nat(8),
    recoverable: fc.boolean(),
    positioned: fc.boolean(),
    join_leave: fc.boolean(),
    flag: fc.nat(3),
  },
  { requiredKeys: [] },
);

const anyHistory = fc.record(
  {
    limit: fc.integer({ min: -1, max: 4 }),
    reverse: fc.boolean(),
    since: fc.record({ offset: fc.nat(8), epoch: fc.constantFrom("", "epoch1", "epoch2") }),
  },
  { requiredKeys: [] },
);

const anyCommand: fc.Arbitrary<ClientCommand> = fc.oneof(
  said(8, "subscribe", anySubscribe, anySubscribeTokens),
  said(3, "unsubscribe", fc.constant({})),
  said(6, "publish", fc.record({ data: fc.nat(9) })),
  said(4, "presence", fc.constant({})),
  said(2, "presence_stats", fc.constant({})),
  said(3, "history", anyHistory),
  said(3, "refresh", fc.constant({ token: "t" }), anyConnectTokens),
  said(2, "sub_refresh", fc.constant({ token: "t" }), anySubscribeTokens),
  said(2, "rpc", fc.constant({})),
  said(1, "connect", fc.constant({}), anyConnectTokens),
);

const anyEvent: fc.Arbitrary<SessionEvent> = fc.oneof(
  {
    weight: 30,
    arbitrary: fc
      .record({ socket: anySocket, sent: anyCommand, connect: anyConnectTokens })
      .map(({ socket, sent, connect }) => ({
        label: `socket ${socket} says ${JSON.stringify(sent)}`,
        apply: (fixture: ChannelFixture) => send(fixture, socketAt(fixture, socket), sent, connect),
      })),
  },
  {
    weight: 8,
    arbitrary: fc.nat(9).map((data) => ({
      label: `a backend publishes ${data}`,
      apply: (fixture: ChannelFixture) => fixture.publish(`${data}`),
    })),
  },
  { weight: 6, arbitrary: fc.constant({ label: "pinged clients answer", apply: answerPings }) },
  {
    weight: 6,
    arbitrary: fc.constantFrom(1, 4_000, 9_000, 13_000, 25_000, 130_000).map((ms) => ({
      label: `${ms} ms pass`,
      apply: (fixture: ChannelFixture) => fixture.pass(ms),
    })),
  },
  {
    weight: 1,
    arbitrary: anySocket.map((socket) => ({
      label: `socket ${socket} ends`,
      apply: (fixture: ChannelFixture) => fixture.end(socketAt(fixture, socket)),
    })),
  },
  {
    weight: 1,
    // Only ever one of them: the leaves of several that are cut at once may come in any order.
    arbitrary: fc.constant({
      label: "socket 2 stops reading",
      apply: (fixture: ChannelFixture) => {
        socketAt(fixture, 2).backlog = 2_000_000;
      },
    }),
  },
);

/** A sequence of events, weighted so that most sequences get far. */
export const anySteps: fc.Arbitrary<Step[]> = fc.array(
  fc.record({ event: anyEvent, hibernatesBefore: fc.boolean() }),
  { maxLength: 80, size: "max" },
);

function mostly<Value>(
  usual: fc.Arbitrary<Value>,
  unusual: fc.Arbitrary<Value>,
): fc.Arbitrary<Value> {
  return fc.oneof({ weight: 15, arbitrary: usual }, { weight: 1, arbitrary: unusual });
}

function said(
  weight: number,
  method: string,
  anyRequest: fc.Arbitrary<object>,
  anyTokens: fc.Arbitrary<VerifiedTokens> = noTokens,
): { weight: number; arbitrary: fc.Arbitrary<ClientCommand> } {
  const arbitrary = fc
    .record({ request: anyRequest, tokens: anyTokens })
    .map(({ request, tokens }) => ({
      command: { [method]: { channel: "room", ...request } },
      tokens,
    }));
  return { weight, arbitrary };
}

/** A socket that hasn't connected yet connects first: another first command would only close it. */
function send(
  fixture: ChannelFixture,
  connection: TestConnection,
  { command, tokens }: ClientCommand,
  connect: VerifiedTokens,
): void {
  if (connection.saved.phase === "new") fixture.send(connection, `{"id":4,"connect":{}}`, connect);
  fixture.send(connection, JSON.stringify({ id: 5, ...command }), tokens);
}

function answerPings(fixture: ChannelFixture): void {
  for (const connection of fixture.connections) {
    if (!connection.gone && connection.saved.awaitingPong === true) fixture.send(connection, "{}");
  }
}

/** Every third socket has the same number; one that is gone or closed makes place for a new one. */
function socketAt(fixture: ChannelFixture, socket: number): TestConnection {
  const newest = fixture.connections.findLast((_, index) => index % socketCount === socket);
  if (newest !== undefined && !newest.gone && newest.saved.phase !== "closed") return newest;
  for (;;) {
    const index = fixture.connections.length;
    const opened = fixture.open({ keepalive: index % 5 === 4 ? "client" : "server" });
    if (index % socketCount === socket) return opened;
  }
}
