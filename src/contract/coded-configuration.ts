import type { JsonValue } from "../protocol/wire-value.ts";

/**
 * What `dormouse check` learns of a configuration that is in a Worker's code: it runs the Worker's module, which tells what
 * was given to `dormouse()` (rule OW14). In JSON.
 */
export interface CodedConfiguration {
  /** As under `[vars.config]`, with the functions as backends. */
  readonly config: object;
  /** Whether the Worker's own code says who a client is: then tokens aren't needed. */
  readonly knowsUsers: boolean;
  /** Whether it says who may see the console: then there is no password. */
  readonly knowsOperators: boolean;
  /** The problems of the configuration, and those of features that the build leaves out. */
  readonly problems: readonly string[];
}

/** Where the configuration is to be in force, which decides what it may have (rules A11 and A20). */
export interface CheckedPlace {
  readonly development: boolean;
  readonly selfHosted: boolean;
}

/**
 * The name of the global function that takes a function which gives the {@link CodedConfiguration}. Only `dormouse check` and
 * the test kit set it, before the Worker's module runs; a name and no import, because the Worker may be bundled already.
 */
export const codeListener = "dormouseRealtimeConfigured";

/**
 * The same for the code of the channels of a server that stands alone, which is in force with the configuration of
 * wrangler's file: the function that it takes is a {@link ChannelsCheck}.
 */
export const channelsListener = "dormouseRealtimeChannels";

/** Takes a configuration as it stands in the file, and gives the problems of the channels' code under it. */
export type ChannelsCheck = (
  config: JsonValue | undefined,
  place: CheckedPlace,
) => readonly string[];

/** The problem of a Worker that has its configuration in its code and among its variables. */
export const configuredTwice =
  "the configuration is given twice, to dormouse() and as the variable config: remove [vars.config] from wrangler's file";
