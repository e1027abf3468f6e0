import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { handoverHeader } from "../../../src/contract/handover.ts";
import { endpoints } from "../../support/sockets/endpoint.ts";
import {
  type Asked,
  type Closing,
  handshake,
  RawSocket,
  type Received,
} from "../../support/sockets/raw-socket.ts";
import { TestServer } from "../../support/servers/test-server.ts";
import { forgeries, secondsFromNow, signToken } from "../../support/test-tokens.ts";

const config = {
  client: { allowed_origins: ["https://*.example.com"], token_cookie: "session" },
  channel: { without_namespace: { allow_subscribe_for_client: true } },
  uni_websocket: { enabled: true },
  uni_sse: { enabled: true },
  long_poll: { enabled: true },
};
const channel = "$private";

let server: TestServer;

beforeAll(async () => {
  server = await TestServer.start({ config });
});
afterAll(() => server.close());

/** The places of a token at the upgrade. */
const places = [
  {
    place: "header",
    offer: (token: string) => ({ query: "", headers: { Authorization: `Bearer ${token}` } }),
  },
  {
    place: "cookie",
    offer: (token: string) => ({ query: "", headers: { Cookie: `a=b; session=${token}` } }),
  },
  { place: "query", offer: (token: string) => ({ query: `?token=${token}`, headers: {} }) },
] as const;

/** Sends a command and gives its answer, or how the connection ended. */
async function outcome(socket: RawSocket, command: Asked): Promise<Received | Closing> {
  const ended = await Promise.race([socket.ask(command), socket.closed]);
  socket.close();
  return ended;
}

it.each([".", "..", "%2e%2E"])(
  "[C6] the channel . or .. has no address of its own, which URLs lose: %s",
  async (name) => {
    for (const transport of ["websocket", "uni_websocket", "uni_sse", "poll"]) {
      const { status, headers } = await fetch(`${server.address}/channel/${name}/${transport}`);
      expect(status).toBe(400);
      expect(headers.get("X-Dormouse-Error-Detail")).toContain("no address of their own");
    }
  },
);

it.each(["/websockets", "/channel/a/b/poll", "/connection/poll", "/a/sse", "/channel/sses"])(
  "[C6] is said of no other path: %s",
  async (path) => {
    expect((await fetch(server.address + path)).status).toBe(404);
  },
);

describe.each(endpoints)("at the endpoint of a $name", (endpoint) => {
  const address = () => endpoint.address(server, channel);

  const connect = async (token: string) =>
    outcome(await RawSocket.open(address()), { id: 1, connect: { token } });

  /** Once connected as alice. */
  const subscribe = async (token: string) => {
    const socket = await RawSocket.connect(address(), signToken({ sub: "alice" }));
    return outcome(socket, { id: 2, subscribe: { channel, token } });
  };

  /** Once connected as alice. */
  const refresh = async (token: string) => {
    const socket = await RawSocket.connect(address(), signToken({ sub: "alice" }));
    return outcome(socket, { id: 2, refresh: { token } });
  };

  describe("an upgrade", () => {
    it.each([
      ["none, as from everything but a browser", {}, 101],
      ["an allowed one", { Origin: "https://app.example.com" }, 101],
      ["a foreign one", { Origin: "https://app.example.com.evil.test" }, 403],
      ["the null of a sandboxed page", { Origin: "null" }, 403],
      ["this machine's", { Origin: "http://localhost:3000" }, 403],
    ] as const)("[A6] with an origin: %s", async (_, headers, status) => {
      expect((await handshake(address(), headers)).status).toBe(status);
    });

    describe.each(places)("with a token in the $place", ({ offer }) => {
      it("[A3] connects as the token's user", async () => {
        const { query, headers } = offer(signToken({ sub: "alice" }));
        const socket = await RawSocket.open(`${address()}${query}`, headers);
        const token = signToken({ sub: "alice", channel });
        expect(await socket.ask({ id: 1, connect: {} })).toHaveProperty("connect.client");
        expect(await outcome(socket, { id: 2, subscribe: { channel, token } })).toHaveProperty(
          "subscribe",
        );
      });

      it.each(forgeries)("[A2] [A3] is refused with 401: $name", async ({ forge }) => {
        const token = forge({ sub: "alice" });
        const { query, headers } = offer(token);
        const answer = await handshake(`${address()}${query}`, headers);
        expect(answer).toEqual({ status: 401, text: "invalid token" });
      });

      it("[A3] is refused with 401 once it has expired", async () => {
        const { query, headers } = offer(signToken({ sub: "alice", exp: secondsFromNow(-1) }));
        const answer = await handshake(`${address()}${query}`, headers);
        expect(answer).toEqual({ status: 401, text: "token expired" });
      });

      it("[A3] is refused with 401 when it is a subscription's", async () => {
        const { query, headers } = offer(signToken({ sub: "alice", channel }));
        expect((await handshake(`${address()}${query}`, headers)).status).toBe(401);
      });
    });

    it("[A3] ignores a client's forged handover", async () => {
      const claims = { user: "root", expireAtSeconds: 0 };
      const forged = encodeURIComponent(JSON.stringify({ v: 1, keepalive: "server", claims }));
      const socket = await RawSocket.open(address(), { [handoverHeader]: forged });
      expect(await outcome(socket, { id: 1, connect: {} })).toMatchObject({ code: 3501 });
    });

    it("[A3] refuses a connect as another user than the token's at the upgrade", async () => {
      const socket = await RawSocket.open(`${address()}?token=${signToken({ sub: "alice" })}`);
      const command = { id: 1, connect: { token: signToken({ sub: "bob" }) } };
      expect(await outcome(socket, command)).toMatchObject({ code: 3500 });
    });
  });

  describe("a connect", () => {
    it.each(forgeries)("[A2] closes 3500: $name", async ({ forge }) => {
      expect(await connect(forge({ sub: "alice" }))).toEqual({
        code: 3500,
        reason: "invalid token",
      });
    });

    it("[A2] closes 3500 with a subscription's token", async () => {
      expect(await connect(signToken({ sub: "alice", channel }))).toMatchObject({ code: 3500 });
    });

    it("[C3] is answered 109 with an expired token", async () => {
      const answer = await connect(signToken({ sub: "alice", exp: secondsFromNow(-1) }));
      expect(answer).toMatchObject({ error: { code: 109 } });
    });

    it("[C3] is answered 109 with a token that isn't valid yet", async () => {
      const answer = await connect(signToken({ sub: "alice", nbf: secondsFromNow(60) }));
      expect(answer).toMatchObject({ error: { code: 109 } });
    });
  });

  describe("a subscribe", () => {
    it("[A4] succeeds with a token for this user and this channel", async () => {
      expect(await subscribe(signToken({ sub: "alice", channel }))).toHaveProperty("subscribe");
    });

    it.each(forgeries)("[A2] is answered 103: $name", async ({ forge }) => {
      const answer = await subscribe(forge({ sub: "alice", channel }));
      expect(answer).toMatchObject({ error: { code: 103 } });
    });

    it.each([
      ["another channel's", { sub: "alice", channel: "$other" }],
      ["another user's", { sub: "bob", channel }],
      ["an anonymous one", { channel }],
      ["another connection's", { sub: "alice", channel, client: "somebody-else" }],
    ])("[A4] closes 3500 with a token that is %s", async (_, claims) => {
      expect(await subscribe(signToken(claims))).toEqual({ code: 3500, reason: "invalid token" });
    });

    it("[A4] is answered 103 with a connection's token", async () => {
      expect(await subscribe(signToken({ sub: "alice" }))).toMatchObject({ error: { code: 103 } });
    });

    it("[A4] is answered 109 with an expired token", async () => {
      const answer = await subscribe(signToken({ sub: "alice", channel, exp: secondsFromNow(-1) }));
      expect(answer).toMatchObject({ error: { code: 109 } });
    });
  });

  describe("a refresh", () => {
    it.each(forgeries)("[A2] [C7] closes 3500: $name", async ({ forge }) => {
      expect(await refresh(forge({ sub: "alice" }))).toMatchObject({ code: 3500 });
    });

    it("[C7] closes 3500 with another user's token", async () => {
      expect(await refresh(signToken({ sub: "bob" }))).toMatchObject({ code: 3500 });
    });

    it("[C7] closes 3005 with an expired token", async () => {
      const token = signToken({ sub: "alice", exp: secondsFromNow(-1) });
      expect(await refresh(token)).toMatchObject({ code: 3005 });
    });
  });
});
