/** How the commands that are clients connect to a server. */
import type { Command } from "commander";
import { secretsOf, type ServerOptions, serverAddress, withServer } from "./settings.ts";
import type { Shell } from "../shell.ts";
import { trialToken } from "../token/token-signer.ts";
import { checkedConfig, type ConfigOptions, withConfig } from "../configuration/worker-config.ts";

/** The options of every command that connects as a client. */
export interface ClientOptions extends ServerOptions, ConfigOptions {
  readonly token?: string;
}

/** Adds the options of {@link ClientOptions} to a command. */
export function withClient(command: Command): Command {
  command.option(
    "--token <token>",
    "connect with this token (default: DORMOUSE_TOKEN, or one that is signed with the secret)",
  );
  return withConfig(withServer(command));
}

/**
 * The address of the server's WebSockets.
 *
 * @throws {Failure} as {@link serverAddress} does
 */
export function socketAddress(options: ClientOptions, shell: Shell): string {
  return `${serverAddress(options, shell).replace(/^http/, "ws")}/connection/websocket`;
}

/** The token to connect with; undefined if none is given and there is no secret to sign one with. */
export async function clientToken(
  options: ClientOptions,
  shell: Shell,
): Promise<string | undefined> {
  const given = options.token ?? shell.environment["DORMOUSE_TOKEN"];
  if (given !== undefined) return given;
  const secret = secretsOf(options, shell)("TOKEN_HMAC_SECRET_KEY") ?? "";
  if (secret === "") return undefined;
  const { userIdClaim } = checkedConfig(options, shell).client.token;
  return trialToken(secret, userIdClaim);
}
