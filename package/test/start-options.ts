import type { JsonConfig, TestHooks } from "./hooks.ts";
import { checkNumber, numberRules } from "./numbers.ts";
import { DormouseTestError } from "./test-error.ts";

/** What a test server is started with; everything has a default. */
export interface StartOptions {
  /** The configuration, as in `[vars.config]` of wrangler's file. */
  readonly config?: object;
  /** Functions that answer hooks, in place of the backends that the configuration names. */
  readonly hooks?: TestHooks;
  /** Secrets by their names, where the test needs certain ones; all that the server needs have a value otherwise. */
  readonly secrets?: Readonly<Record<string, string>>;
  /** The main module of a Worker of one's own that has the server in it. It brings its configuration and its hooks. */
  readonly worker?: string;
  /** Where the server is in that Worker, such as `/realtime`. */
  readonly prefix?: string;
  /** Variables of that Worker. */
  readonly variables?: JsonConfig;
  /** The port on 127.0.0.1 for clients; by default a free one. */
  readonly port?: number;
  /** For how long `received` and the like wait, in ms; by default 5 seconds. */
  readonly withinMs?: number;
}

const optionNames: readonly string[] = [
  "config",
  "hooks",
  "secrets",
  "worker",
  "prefix",
  "variables",
  "port",
  "withinMs",
] satisfies (keyof StartOptions)[];

const ofOwnWorker = ["prefix", "variables"] as const;
const ofTheServer = ["config", "hooks"] as const;

/** @throws {DormouseTestError} for options that aren't there, and for those that don't fit together */
export function checkStartOptions(options: StartOptions): void {
  const unknown = Object.keys(options).find((name) => !optionNames.includes(name));
  if (unknown !== undefined)
    throw new DormouseTestError(
      `startDormouse: there is no option ${unknown}; the options are ${optionNames.join(", ")}`,
    );
  const [refused, why] =
    options.worker === undefined
      ? [ofOwnWorker, "is for a worker of one's own, which the option worker names"]
      : [ofTheServer, "can't be given for a worker of one's own, which brings its own"];
  const misplaced = refused.find((name) => options[name] !== undefined);
  if (misplaced !== undefined) throw new DormouseTestError(`startDormouse: ${misplaced} ${why}`);
  if (options.prefix !== undefined && !prefixShape.test(options.prefix))
    throw new DormouseTestError("startDormouse: prefix must begin with / and not end with it");
  for (const name of ["port", "withinMs"] as const)
    if (options[name] !== undefined)
      checkNumber(`startDormouse: ${name}`, options[name], numberRules[name]);
}

const prefixShape = /^(?:\/[^/?#]+)*$/;
