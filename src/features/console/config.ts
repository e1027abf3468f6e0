import type { Secrets, SecretUse } from "../../access/secrets.ts";
import type { Config } from "../../config/config.ts";

import { readOptions } from "../../config/fields.ts";
import type { Options } from "../../config/option.ts";
import type { Section } from "../../config/section.ts";

declare module "../../config/config.ts" {
  interface Config {
    /** Dormouse's own; absent where the configuration doesn't say whether the console is on. */
    readonly console?: ConsoleConfig;
  }
}

/** The section `console`: the operator's page. */
export interface ConsoleConfig {
  readonly enabled: boolean;
  /** The application of Cloudflare Access that lets operators in; absent if the password does. */
  readonly access?: ConsoleAccessConfig;
}

/** An application of Cloudflare Access. */
export interface ConsoleAccessConfig {
  /** The domain of the team, such as `example.cloudflareaccess.com`. */
  readonly team: string;
  /** The application's audience tag. */
  readonly audience: string;
}

/**
 * Reads `console`, a section of Dormouse's own: the operator's page (rule N1).
 *
 * @param section receives the problems
 * @returns undefined if the configuration doesn't say whether the page is on
 */
export function readConsoleSection(section: Section): ConsoleConfig | undefined {
  const isSaid = section.take("enabled") !== undefined;
  const { enabled, team, audience } = readOptions(section, consoleOptions);
  section.refuseOthers({});
  if ((team === "") !== (audience === ""))
    section.problem(
      team === "" ? "access_team_domain" : "access_audience",
      "is missing: Cloudflare Access needs both access_team_domain and access_audience",
    );
  if (team !== "" && !isSaid) section.problem("enabled", "is missing beside access_team_domain");
  if (!isSaid) return undefined;
  return team === "" ? { enabled } : { enabled, access: { team, audience } };
}

/** `console.*`. */
export const consoleOptions = {
  /**
   * The page is served at `/console`, with the secret `CONSOLE_PASSWORD` or Cloudflare Access in front; objects count as with
   * `prometheus.enabled`; needs the binding `METRICS`. Under `npm start` it is on where the configuration doesn't say, if
   * there is a password.
   */
  enabled: { is: "boolean" },
  /** The team's domain of Cloudflare Access, such as `example.cloudflareaccess.com`; then there is no password. */
  access_team_domain: {
    is: "text",
    as: "team",
    // Only Cloudflare's own domain, because the server of the keys decides who gets in.
    shape: /^(?:[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?\.cloudflareaccess\.com)?$/,
    meaning: "the domain of a team: <name>.cloudflareaccess.com",
  },
  /** The audience tag of the application of Cloudflare Access, 64 hexadecimal digits; needed with the domain. */
  access_audience: {
    is: "text",
    as: "audience",
    shape: /^(?:[0-9a-f]{64})?$/,
    meaning: "the audience tag of an application of Cloudflare Access: 64 hexadecimal digits",
  },
} as const satisfies Options;

/** Lets an operator into the console (rule N2). */
export const consolePassword = "CONSOLE_PASSWORD";

export function consoleSecrets(): readonly SecretUse[] {
  return [{ name: consolePassword, kind: "console", of: consolePassword }];
}

/** The secrets without which nobody gets into the console. */
export function neededConsoleSecrets({ console }: Config): readonly string[] {
  return console?.enabled && console.access === undefined ? [consolePassword] : [];
}

/** Under `npm start` the console is on if there is a password, unless the configuration says otherwise. */
export function consoleInDevelopment(config: Config, given: Secrets): Config {
  if (config.console !== undefined || given[consolePassword] === undefined) return config;
  return {
    ...config,
    console: { enabled: true },
    prometheus: { ...config.prometheus, counts: true },
  };
}
