import type { Command } from "../../src/protocol/command.ts";
import type { VerifiedTokens } from "../../src/session/ports.ts";
import type { TokenVerifier } from "../platform/token-verifier.ts";

/** Whether a command carries a token: one that doesn't costs nothing to verify. */
export function carriesToken(command: Command): boolean {
  switch (command.method) {
    case "connect":
    case "refresh":
    case "subscribe":
    case "sub_refresh":
      return command.request.token !== "";
    case "unsubscribe":
    case "publish":
    case "presence":
    case "presence_stats":
    case "history":
    case "rpc":
    case "send":
    case "ping":
    case "pong":
      return false;
  }
}

/** Verifies the token a command carries, before the session sees the command: that takes time, and a session takes none. */
export async function verifyTokens(
  command: Command,
  verifier: TokenVerifier,
  nowMs: number,
): Promise<VerifiedTokens> {
  switch (command.method) {
    case "connect":
    case "refresh":
      return { connection: await verifier.connection(command.request.token, nowMs) };
    case "subscribe":
    case "sub_refresh":
      return { subscription: await verifier.subscription(command.request.token, nowMs) };
    case "unsubscribe":
    case "publish":
    case "presence":
    case "presence_stats":
    case "history":
    case "rpc":
    case "send":
    case "ping":
    case "pong":
      return {};
  }
}
