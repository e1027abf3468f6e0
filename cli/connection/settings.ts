import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { parseEnv } from "node:util";
import type { Command } from "commander";
import { readText } from "../configuration/document.ts";
import { type Shell, usageFailure } from "../shell.ts";
import { wholeNumber } from "../text/values.ts";
import { isOnThisMachine } from "./connect-attempts.ts";

/** The options of every command that calls a server. */
export interface ServerOptions extends SecretOptions {
  readonly url?: string;
  readonly port?: number;
  readonly plainHttp?: boolean;
}

/** The options of every command that reads secrets. */
export interface SecretOptions {
  readonly secrets?: string;
}

/** Adds the options of {@link ServerOptions} to a command. */
export function withServer(command: Command): Command {
  return withSecrets(command)
    .option("--url <url>", "the server (default: DORMOUSE_URL, or http://localhost:8787)")
    .option("--port <number>", "npm start on this port of this machine", wholeNumber(1, 65_535))
    .option("--plain-http", "send the key to another machine without TLS");
}

/** Adds the options of {@link SecretOptions} to a command. */
export function withSecrets(command: Command): Command {
  return command.option(
    "--secrets <file>",
    "a file with secrets that aren't in the environment (default: .dev.vars)",
  );
}

/**
 * The server's address, without a slash at its end. The address of its WebSockets names the server as well.
 *
 * @throws {Failure} if the address is no URL, if two are given, or if a secret would pass a network without TLS
 */
export function serverAddress({ url, port, plainHttp }: ServerOptions, shell: Shell): string {
  if (url !== undefined && port !== undefined)
    throw usageFailure("--url and --port both name a server: give one of them");
  const local = port === undefined ? undefined : `http://localhost:${port}`;
  const given = local ?? url ?? shell.environment["DORMOUSE_URL"] ?? "http://localhost:8787";
  const address = given.replace(/^ws/, "http");
  if (!/^https?:\/\//.test(address) || !URL.canParse(address))
    throw usageFailure("--url takes an address such as https://dormouse.example.com");
  const parsed = new URL(address);
  if (parsed.username !== "" || parsed.password !== "")
    throw usageFailure("--url takes an address without a user or a password");
  if (parsed.protocol === "http:" && !isOnThisMachine(parsed.hostname) && plainHttp !== true)
    throw usageFailure(
      `${parsed.hostname} would get the key or the token without TLS: use https, or --plain-http in a network that you trust`,
    );
  return `${parsed.origin}${parsed.pathname}`.replace(/(?:\/connection\/websocket)?\/*$/, "");
}

/**
 * Reads secrets by their names: from the environment, or else from a file of lines such as `NAME="value"`.
 *
 * @returns a function that gives a secret; undefined if it is neither here nor there, or empty
 * @throws {Failure} if a named file doesn't exist
 */
export function secretsOf(
  { secrets }: SecretOptions,
  shell: Shell,
): (name: string) => string | undefined {
  const file = resolve(shell.folder, secrets ?? ".dev.vars");
  if (secrets !== undefined && !existsSync(file))
    throw usageFailure(`--secrets names ${secrets}, which doesn't exist`);
  const inFile = existsSync(file) ? parseEnv(readText(file, secrets ?? ".dev.vars")) : {};
  return (name) => {
    const value = shell.environment[name] ?? "";
    return (value === "" ? inFile[name] : value) || undefined;
  };
}

/**
 * A secret that a command can't do without.
 *
 * @throws {Failure} if it isn't there; the message says where it may be
 */
export function neededSecret(name: string, options: SecretOptions, shell: Shell): string {
  const secret = secretsOf(options, shell)(name);
  if (secret !== undefined) return secret;
  const file = options.secrets ?? ".dev.vars";
  throw usageFailure(`${name} is missing: set it in the environment, or write it into ${file}`);
}
