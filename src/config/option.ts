/**
 * The kinds of options. Each option is a row, with its sentence as a comment. From the rows are made the
 * reader, the types of what is read and of what an operator writes, the schema for editors and the tables of the documents.
 */
import type { Section } from "./section.ts";

/** The options of a section by their names, in the order of reading, in which problems are reported. */
export type Options = Readonly<Record<string, Option>>;

/** One option, by the kind of its values. */
export type Option =
  | BooleanOption
  | WholeNumberOption
  | DurationOption
  | TextOption
  | ChoiceOption
  | TextsOption
  | TextMapOption
  | FilterOption
  | SectionOption
  | SectionsOption;

/** The members that a row of any kind may have. */
interface AnyOption {
  /** Dormouse's own: Centrifugo has no option of this name. So are all options of a section that is. */
  readonly own?: true;
  /** The field that has the value, where its name isn't that of the option. */
  readonly as?: string;
  /** Reads the value in place of the kind's own reader; undefined if there is none. */
  readonly read?: (section: Section, name: string) => OptionValue;
  /** Another option of the section without which this one has no effect, and the value that it needs; else any. */
  readonly needs?: string | readonly [name: string, value: string];
}

/** A value as it is read. */
export type OptionValue = string | number | boolean | object | undefined;

export interface BooleanOption extends AnyOption {
  readonly is: "boolean";
  /** If absent, false, as for every switch of Centrifugo's configuration. */
  readonly default?: true;
  /** It is for development only (rule A11): what it does, as a sentence without its subject. */
  readonly development?: string;
}

/** A whole number within inclusive bounds. */
export interface WholeNumberOption extends AnyOption {
  readonly is: "whole";
  readonly default: number;
  readonly min: number;
  /** If absent, the largest safe integer. */
  readonly max?: number;
  /** The value that 0 stands for. */
  readonly zeroIs?: number;
  /** Ends the name of the field. */
  readonly unit?: "Bytes" | "Seconds";
}

/** A duration such as "25s"; here in ms, with inclusive bounds. The name of its field ends with `Ms`. */
export interface DurationOption extends AnyOption {
  readonly is: "duration";
  /** If absent, 0. */
  readonly default?: number;
  readonly min?: number;
  readonly max?: number;
  /** The value is sent to clients, in seconds. */
  readonly wholeSeconds?: true;
  /** The value that 0 stands for. */
  readonly zeroIs?: number;
}

export interface TextOption extends AnyOption {
  readonly is: "text";
  /** If absent, "". */
  readonly default?: string;
  /** If absent, any text is valid. */
  readonly shape?: RegExp;
  /** The shape in words, such as "a cookie name". */
  readonly meaning?: string;
  /** "" is as if the option were absent. */
  readonly optional?: true;
  /** The value that "" stands for. */
  readonly zeroIs?: string;
  /** The value is the name of a secret of the Worker: what it begins with, before a `_`. */
  readonly secret?: string;
}

/** One of several texts. */
export interface ChoiceOption extends AnyOption {
  readonly is: "choice";
  /** The first one is the default. */
  readonly of: readonly [string, ...string[]];
  /** "" is as if the option were absent. */
  readonly optional?: true;
  /** The value that "" stands for. */
  readonly zeroIs?: string;
}

/** A list of texts; the default is the empty one. */
interface TextsOption extends AnyOption {
  readonly is: "texts";
  /** If absent, any text is valid. */
  readonly each?: TextRule;
}

/** A shape in words, or a function that says what is wrong with a text, as a sentence whose subject is the text. */
export type TextRule =
  | Required<Pick<TextOption, "shape" | "meaning">>
  | ((text: string) => string | undefined);

/** An object of texts. */
interface TextMapOption extends AnyOption {
  readonly is: "map";
}

/** A tags filter (docs/protocol.md 3.2). */
interface FilterOption extends AnyOption {
  readonly is: "filter";
}

interface SectionOption extends AnyOption {
  readonly is: "section";
  readonly of: Options;
}

/** A list of sections. */
interface SectionsOption extends AnyOption {
  readonly is: "sections";
  readonly of: Options;
}

/** The values of a section's options, by the names of their fields. A value that may be missing is an optional field. */
export type Values<Of extends Options> = {
  readonly [
    Name in keyof Of & string as undefined extends ValueOf<Of[Name]>
      ? never
      : FieldOf<Name, Of[Name]>
  ]: ValueOf<Of[Name]>;
} & {
  readonly [
    Name in keyof Of & string as undefined extends ValueOf<Of[Name]>
      ? FieldOf<Name, Of[Name]>
      : never
  ]?: Exclude<ValueOf<Of[Name]>, undefined>;
};

/** The value that is read of an option. */
export type ValueOf<One extends Option> = One extends {
  readonly read: (...given: never[]) => infer Value;
}
  ? Value
  : One extends SectionOption
    ? Values<One["of"]>
    : One extends ChoiceOption
      ? Chosen<One>
      : One extends { readonly optional: true }
        ? string | undefined
        : KindValues[One["is"]];

type Chosen<One extends ChoiceOption> = One extends { readonly zeroIs: infer Zero }
  ? Exclude<One["of"][number], ""> | Zero
  : One extends { readonly optional: true }
    ? Exclude<One["of"][number], ""> | undefined
    : One["of"][number];

/** The values of the kinds whose rows don't say more of them. */
interface KindValues {
  readonly boolean: boolean;
  readonly whole: number;
  readonly duration: number;
  readonly text: string;
  readonly choice: string;
  readonly texts: readonly string[];
  readonly map: object;
  readonly filter: object;
  readonly section: object;
  readonly sections: readonly object[];
}

/** The name of the field that has the value of an option. */
type FieldOf<Name extends string, One extends Option> = One extends {
  readonly as: infer Field extends string;
}
  ? Field
  : `${Camel<Name>}${One extends { readonly is: "duration" } ? "Ms" : One extends { readonly unit: infer Unit extends string } ? Unit : ""}`;

type Camel<Name extends string> = Name extends `${infer First}_${infer Rest}`
  ? `${First}${Capitalize<Camel<Rest>>}`
  : Name;

/** The form in which an operator writes a section. The members have the comments of the rows. */
export type WrittenOptions<Of extends Options> = {
  readonly [Name in keyof Of]?: WrittenValue<Of[Name]>;
};

type WrittenValue<One extends Option> = One extends { readonly is: "section"; readonly of: Options }
  ? WrittenOptions<One["of"]>
  : One extends { readonly is: "sections"; readonly of: Options }
    ? readonly WrittenOptions<One["of"]>[]
    : One extends ChoiceOption
      ? One["of"][number]
      : WrittenValues[Exclude<One["is"], "section" | "sections" | "choice">];

interface WrittenValues {
  readonly boolean: boolean;
  readonly whole: number;
  readonly duration: string;
  readonly text: string;
  readonly texts: readonly string[];
  readonly map: { readonly [name: string]: string };
  readonly filter: object;
}
