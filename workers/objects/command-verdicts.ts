import type { Command } from "../../src/protocol/command.ts";
import type { Verdicts } from "../../src/session/verdicts.ts";
import type { TokenVerifier } from "../platform/token-verifier.ts";

/**
 * Verifies the token a command carries, before the session sees the command: verifying takes time and a session takes
 * none. A command without a token costs nothing here.
 *
 * @returns undefined for a command that carries no token
 */
export function commandVerdicts(
  command: Command,
  verifier: TokenVerifier,
  nowMs: number,
): Promise<Verdicts> | undefined {
  switch (command.method) {
    case "connect":
    case "refresh":
      return command.request.token === ""
        ? undefined
        : connection(command.request.token, verifier, nowMs);
    case "subscribe":
    case "sub_refresh":
      return command.request.token === ""
        ? undefined
        : subscription(command.request.token, verifier, nowMs);
    case "unsubscribe":
    case "publish":
    case "presence":
    case "presence_stats":
    case "history":
    case "rpc":
    case "send":
    case "ping":
    case "pong":
      return undefined;
  }
}

async function connection(
  token: string,
  verifier: TokenVerifier,
  nowMs: number,
): Promise<Verdicts> {
  return { connection: await verifier.connection(token, nowMs) };
}

async function subscription(
  token: string,
  verifier: TokenVerifier,
  nowMs: number,
): Promise<Verdicts> {
  return { subscription: await verifier.subscription(token, nowMs) };
}
