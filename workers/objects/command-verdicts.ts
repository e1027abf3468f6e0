import type { Command } from "../../src/protocol/command.ts";
import type { Verdicts } from "../../src/session/session.ts";
import { verifyConnectionToken, verifySubscriptionToken } from "../platform/token-verifier.ts";

/**
 * Verifies the token a command carries, before the session sees the command: verifying takes time and a session takes
 * none. A command without a token costs nothing here.
 *
 * @returns undefined for a command that carries no token
 */
export function commandVerdicts(
  command: Command,
  secret: string,
  nowMs: number,
): Promise<Verdicts> | undefined {
  switch (command.method) {
    case "connect":
    case "refresh":
      return command.request.token === ""
        ? undefined
        : connection(command.request.token, secret, nowMs);
    case "subscribe":
    case "sub_refresh":
      return command.request.token === ""
        ? undefined
        : subscription(command.request.token, secret, nowMs);
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

async function connection(token: string, secret: string, nowMs: number): Promise<Verdicts> {
  return { connection: await verifyConnectionToken(token, secret, nowMs) };
}

async function subscription(token: string, secret: string, nowMs: number): Promise<Verdicts> {
  return { subscription: await verifySubscriptionToken(token, secret, nowMs) };
}
