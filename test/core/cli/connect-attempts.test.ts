import { createServer } from "node:http";
import { describe, expect, it, onTestFinished } from "vitest";
import { ConnectAttempts } from "../../../cli/connection/connect-attempts.ts";
import { observedSocket } from "../../../cli/connection/observed-socket.ts";
import { serverAddress } from "../../../cli/connection/settings.ts";
import { freePort, listen } from "../../support/servers/listen.ts";
import { recordedShell, shellOf } from "./recorded-shell.ts";

/** The cause of a socket that can't open. */
function causeAt(address: string): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  const socket = new (observedSocket(resolve))(address);
  return promise.finally(() => socket.terminate());
}

describe("attempts to connect", () => {
  it("name the address and the cause once, and are counted afterwards", async () => {
    const address = `ws://localhost:${await freePort()}/connection/websocket`;
    const { shell, noted, told } = shellOf("/");
    const attempts = new ConnectAttempts(address, shell);
    const cause = await causeAt(address);
    expect(cause).toContain("ECONNREFUSED");
    attempts.socketFailed(cause);
    for (let count = 0; count < 3; count++) attempts.failed("transport closed");
    expect(noted).toEqual([
      `can't connect to ${address}: ${cause}. Does npm start run? Another server is named with --port or --url`,
    ]);
    expect(told).toEqual([
      "still trying: 2 attempts have failed",
      "still trying: 3 attempts have failed",
    ]);
    expect([attempts.connected(), attempts.connected()]).toEqual([" after 3 failed attempts", ""]);
  });

  it("say what a server answers that isn't Dormouse", async () => {
    const server = createServer((_, response) => response.writeHead(404).end());
    onTestFinished(() => void server.close());
    const cause = await causeAt(`ws://127.0.0.1:${await listen(server)}/`);
    expect(cause).toBe("Unexpected server response: 404");
  });

  it("ask about the address of another machine", () => {
    const { shell, noted } = shellOf("/");
    new ConnectAttempts("wss://example.com/connection/websocket", shell).failed("timeout");
    expect(noted.join()).toContain("timeout. Is that the server's address");
  });
});

describe("--port", () => {
  it("names npm start on another port", () => {
    const { shell } = shellOf("/");
    expect(serverAddress({ port: 9000 }, shell)).toBe("http://localhost:9000");
    expect(() => serverAddress({ port: 9000, url: "http://localhost:1" }, shell)).toThrow(
      "--url and --port both name a server",
    );
  });

  it.each(["publish", "listen", "history", "presence", "users", "disconnect", "why", "inspect"])(
    "is an option of %s",
    async (command) => {
      expect((await recordedShell()([command, "--help"])).printed).toContain("--port <number>");
    },
  );
});
