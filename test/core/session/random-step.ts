import * as fc from "fast-check";
import type { VerifiedTokens } from "../../../src/session/ports.ts";
import { json } from "../api/channel-config.ts";
import type { Peer } from "./peer.ts";
import { type Room, startMs } from "./channel-fixture.ts";
import {
  connectionToken,
  expiredToken,
  invalidToken,
  subscriptionToken,
} from "./verified-tokens.ts";

/** Something that happens to a room. It does the same to every room in which the same happened before. */
interface Happening {
  /** For the report of a failure. */
  readonly label: string;
  readonly happen: (room: Room) => void;
}

export interface Step {
  readonly happening: Happening;
  /** Whether the object sleeps just before. */
  readonly sleepBefore: boolean;
}

interface Saying {
  readonly command: object;
  readonly verdicts: VerifiedTokens;
}

const socketCount = 3;
const anySocket = fc.nat(socketCount - 1);
/** Mostly the same one, because another's token closes the connection. */
const anyUser = mostly(fc.constant("42"), fc.constantFrom("7", ""));
const anyEnd = fc.constantFrom(0, 0, startMs / 1000 + 30, startMs / 1000 + 400);
const anyInfo = fc.constantFrom({}, { info: json(`{"n":1.0}`) }, { info: json(`"zoë"`) });
const noVerdicts = fc.constant<VerifiedTokens>({});

const anyConnectVerdicts = mostly(
  fc
    .record({ user: anyUser, end: anyEnd, info: anyInfo })
    .map(({ user, end, info }) => connectionToken(user, { expireAtSeconds: end, ...info })),
  fc.constantFrom<VerifiedTokens>({}, expiredToken, invalidToken),
);

const anySubscribeVerdicts = fc.oneof(
  { weight: 6, arbitrary: noVerdicts },
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

const anySaying: fc.Arbitrary<Saying> = fc.oneof(
  said(8, "subscribe", anySubscribe, anySubscribeVerdicts),
  said(3, "unsubscribe", fc.constant({})),
  said(6, "publish", fc.record({ data: fc.nat(9) })),
  said(4, "presence", fc.constant({})),
  said(2, "presence_stats", fc.constant({})),
  said(3, "history", anyHistory),
  said(3, "refresh", fc.constant({ token: "t" }), anyConnectVerdicts),
  said(2, "sub_refresh", fc.constant({ token: "t" }), anySubscribeVerdicts),
  said(2, "rpc", fc.constant({})),
  said(1, "connect", fc.constant({}), anyConnectVerdicts),
);

const anyHappening: fc.Arbitrary<Happening> = fc.oneof(
  {
    weight: 30,
    arbitrary: fc
      .record({ socket: anySocket, saying: anySaying, connect: anyConnectVerdicts })
      .map(({ socket, saying, connect }) => ({
        label: `socket ${socket} says ${JSON.stringify(saying)}`,
        happen: (room: Room) => say(room, socketAt(room, socket), saying, connect),
      })),
  },
  {
    weight: 8,
    arbitrary: fc.nat(9).map((data) => ({
      label: `a backend publishes ${data}`,
      happen: (room: Room) => room.publish(`${data}`),
    })),
  },
  { weight: 6, arbitrary: fc.constant({ label: "who was asked answers", happen: answerPings }) },
  {
    weight: 6,
    arbitrary: fc.constantFrom(1, 4_000, 9_000, 13_000, 25_000, 130_000).map((ms) => ({
      label: `${ms} ms pass`,
      happen: (room: Room) => room.pass(ms),
    })),
  },
  {
    weight: 1,
    arbitrary: anySocket.map((socket) => ({
      label: `socket ${socket} ends`,
      happen: (room: Room) => room.end(socketAt(room, socket)),
    })),
  },
  {
    weight: 1,
    // Only ever one of them: the leaves of several that are cut at once may come in any order.
    arbitrary: fc.constant({
      label: "socket 2 stops reading",
      happen: (room: Room) => {
        socketAt(room, 2).backlog = 2_000_000;
      },
    }),
  },
);

/** A sequence of what can happen to a room, weighed so that most sequences get far. */
export const anySteps: fc.Arbitrary<Step[]> = fc.array(
  fc.record({ happening: anyHappening, sleepBefore: fc.boolean() }),
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
  anyVerdicts: fc.Arbitrary<VerifiedTokens> = noVerdicts,
): { weight: number; arbitrary: fc.Arbitrary<Saying> } {
  const arbitrary = fc
    .record({ request: anyRequest, verdicts: anyVerdicts })
    .map(({ request, verdicts }) => ({
      command: { [method]: { channel: "room", ...request } },
      verdicts,
    }));
  return { weight, arbitrary };
}

/** A socket that hasn't connected yet connects first: another first command would only close it. */
function say(room: Room, peer: Peer, { command, verdicts }: Saying, connect: VerifiedTokens): void {
  if (peer.saved.phase === "new") room.say(peer, `{"id":4,"connect":{}}`, connect);
  room.say(peer, JSON.stringify({ id: 5, ...command }), verdicts);
}

function answerPings(room: Room): void {
  for (const peer of room.peers) {
    if (!peer.gone && peer.saved.awaitingPong === true) room.say(peer, "{}");
  }
}

/** Every third socket has the same number; one that is gone or closed makes place for a new one. */
function socketAt(room: Room, socket: number): Peer {
  const newest = room.peers.findLast((_, index) => index % socketCount === socket);
  if (newest !== undefined && !newest.gone && newest.saved.phase !== "closed") return newest;
  for (;;) {
    const index = room.peers.length;
    const opened = room.open({ keepalive: index % 5 === 4 ? "client" : "server" });
    if (index % socketCount === socket) return opened;
  }
}
