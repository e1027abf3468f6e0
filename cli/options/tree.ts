import type { Option, Options } from "../../src/config/option.ts";
import { httpOptions } from "../../src/features/hooks/backends.ts";
import * as whole from "../../src/features/options.ts";
import { type Sentence, sentences } from "./sentences.ts";

/** An option with its sentence, where it stands in the configuration. */
export interface PlacedOption {
  readonly name: string;
  readonly option: Option;
  readonly said: Sentence;
  /** Whether it is Dormouse's own, for itself or with its section. */
  readonly isOwn: boolean;
}

/**
 * The options of a section with their sentences.
 *
 * @param isOwn whether the section is Dormouse's own
 * @throws if an option has no sentence
 */
export function placedOptions(options: Options, isOwn = false): readonly PlacedOption[] {
  return Object.entries(options).map(([name, option]) => {
    const said = all.get(option);
    if (said === undefined) throw new Error(`the row of ${name} has no sentence above it`);
    return { name, option, said, isOwn: isOwn || option.own === true };
  });
}

const all = sentences();

/** The options below an option; undefined if it is no section, nor a list of sections. */
export function below(option: Option): Options | undefined {
  return option.is === "section" || option.is === "sections" ? option.of : undefined;
}

/** The options at a path of the configuration, such as `client.proxy`. @throws if there are none */
export function optionsAt(path: string): { readonly options: Options; readonly isOwn: boolean } {
  let found: Options = whole.configuration;
  let isOwn = false;
  for (const name of path.split(".").filter((one) => one !== "")) {
    const option: Option | undefined = found[name];
    const next = option && below(option);
    if (next === undefined) throw new Error(`the configuration has no section ${path}`);
    isOwn ||= option?.own === true;
    found = next;
  }
  return { options: found, isOwn };
}

/** The tables of rows that are in the tree more than once, by a name for each. */
export const sharedTables: ReadonlyMap<Options, string> = new Map<Options, string>([
  [whole.backendOptions, "Backend"],
  [httpOptions, "BackendHttp"],
  [whole.channelOptions, "ChannelOptions"],
  [whole.commandRateOptions, "CommandRates"],
  [whole.channelRateOptions, "ChannelRates"],
  [whole.rateOptions, "Rates"],
]);
