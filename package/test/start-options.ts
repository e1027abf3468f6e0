import type { JsonConfig, TestHooks } from "./hooks.ts";
import type { GivenBindings } from "./project/given-bindings.ts";
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
  /**
   * The main module of a Worker of one's own that has the server in it; absent with `wrangler`: the `main` of that file. It
   * brings its configuration and its hooks.
   */
  readonly worker?: string;
  /**
   * The wrangler file whose bindings that Worker gets, simulated on this machine, with the secrets of `.dev.vars` and the
   * migrations of D1. By default the one in the folder of `worker` or the nearest above; `false`: none.
   */
  readonly wrangler?: string | false;
  /** The environment of that file, such as `staging`. */
  readonly environment?: string;
  /** Bindings of that Worker in place of those of the file: functions are other Workers, all else is a variable. */
  readonly bindings?: GivenBindings;
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
  "wrangler",
  "environment",
  "bindings",
  "prefix",
  "variables",
  "port",
  "withinMs",
] satisfies (keyof StartOptions)[];

const ofOwnWorker = ["environment", "bindings", "prefix", "variables"] as const;
const ofTheServer = ["config", "hooks"] as const;

/** @throws {DormouseTestError} for options that aren't there, and for those that don't fit together */
export function checkStartOptions(options: StartOptions): void {
  const unknown = Object.keys(options).find((name) => !optionNames.includes(name));
  if (unknown !== undefined)
    throw new DormouseTestError(
      `startDormouse: there is no option ${unknown}; the options are ${optionNames.join(", ")}`,
    );
  const [refused, why] = !isOwnWorker(options)
    ? [ofOwnWorker, "is for a worker of one's own, which the option worker names, or wrangler"]
    : [ofTheServer, "can't be given for a worker of one's own, which brings its own"];
  const misplaced = refused.find((name) => options[name] !== undefined);
  if (misplaced !== undefined) throw new DormouseTestError(`startDormouse: ${misplaced} ${why}`);
  if (options.prefix !== undefined && !prefixShape.test(options.prefix))
    throw new DormouseTestError("startDormouse: prefix must begin with / and not end with it");
  for (const name of ["port", "withinMs"] as const)
    if (options[name] !== undefined)
      checkNumber(`startDormouse: ${name}`, options[name], numberRules[name]);
}

/** Whether options are for a Worker of one's own. */
export function isOwnWorker({ worker, wrangler }: StartOptions): boolean {
  return worker !== undefined || typeof wrangler === "string";
}

const prefixShape = /^(?:\/[^/?#]+)*$/;
