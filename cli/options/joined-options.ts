/**
 * The conditions of the schema about several options of one section: an option that needs others. Rules that join sections, or compare
 * values, only the server checks.
 */
import type { Option, Options } from "../../src/config/option.ts";
import { consoleOptions } from "../../src/features/console/config.ts";
import { streamOptions } from "../../src/config/channel-options.ts";
import { eventOptions } from "../../src/features/events/config.ts";
import { keyOptions } from "../../src/features/maps/config.ts";

/** The values of one key. */
interface ValueSchema {
  readonly const?: string | boolean;
  readonly enum?: readonly string[];
  readonly type?: "boolean";
  readonly minimum?: number;
  readonly minLength?: number;
  readonly minItems?: number;
  readonly pattern?: string;
}

type Needs = Readonly<Record<string, ValueSchema>>;

/** The rules of a section, as conditions of JSON Schema. */
export function joinedRules(options: Options): readonly object[] {
  const byRows = Object.entries(options).flatMap(([name, { needs }]) => {
    if (needs === undefined) return [];
    const [other, value] = typeof needs === "string" ? [needs] : needs;
    const option = options[other];
    const wanted = value === undefined ? option && asking(option) : { const: value };
    return wanted === undefined ? [] : [rule(name, isOn, { [other]: wanted })];
  });
  const own = named.flatMap(({ table, option, is, needs, among }) =>
    options[option] === table[option] ? [rule(option, is, needs, among)] : [],
  );
  return [...byRows, ...own];
}

function rule(option: string, is: ValueSchema, needs: Needs, among: Needs = {}): object {
  return {
    if: { properties: { ...among, [option]: is }, required: [option] },
    // oxlint-disable-next-line unicorn/no-thenable -- the name is that of JSON Schema
    then: { properties: needs, required: Object.keys(needs) },
  };
}

/** A value of an option that asks for something. */
function asking({ is }: Option): ValueSchema {
  if (is === "boolean") return isOn;
  if (is === "duration") return lasts;
  return is === "texts" ? some : isNamed;
}

const isOn = { const: true } as const;
const isNamed = { minLength: 1 } as const;
/** A duration that isn't 0. */
const lasts = { pattern: "[1-9]" } as const;
const some = { minItems: 1 } as const;

const streams = { subscription_type: { enum: ["", "stream"] } } as const;
const history = { history_size: { minimum: 1 }, history_ttl: lasts } as const;

/** Rules of the server's own functions, by the tables whose option needs the others. */
const named: readonly {
  readonly table: Options;
  readonly option: string;
  readonly is: ValueSchema;
  readonly needs: Needs;
  readonly among?: Needs;
}[] = [
  {
    table: streamOptions,
    option: "history_size",
    is: { minimum: 1 },
    needs: { history_ttl: lasts },
    among: streams,
  },
  {
    table: streamOptions,
    option: "history_ttl",
    is: lasts,
    needs: { history_size: { minimum: 1 } },
    among: streams,
  },
  ...["force_positioning", "allow_positioning", "force_recovery", "allow_recovery"].map(
    (option) => ({ table: streamOptions, option, is: isOn, needs: history, among: streams }),
  ),
  {
    table: keyOptions,
    option: "mode",
    is: { enum: ["ephemeral", "recoverable"] },
    needs: { key_ttl: lasts },
  },
  {
    table: consoleOptions,
    option: "access_team_domain",
    is: isNamed,
    needs: { access_audience: isNamed, enabled: { type: "boolean" } },
  },
  {
    table: consoleOptions,
    option: "access_audience",
    is: isNamed,
    needs: { access_team_domain: isNamed, enabled: { type: "boolean" } },
  },
  { table: eventOptions, option: "types", is: some, needs: { target: isNamed } },
  { table: eventOptions, option: "target", is: isNamed, needs: { types: some } },
];
