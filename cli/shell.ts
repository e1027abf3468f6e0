import { styleText } from "node:util";

/** What a command knows of the process that runs it, and where its output goes. */
export interface Shell {
  readonly environment: Readonly<NodeJS.Dict<string>>;
  /** The working directory, to which paths on the command line are relative. */
  readonly folder: string;
  /** Whether the output is read by a person, so that it may have colours and progress. */
  readonly isTerminal: boolean;
  /** Writes a result to the standard output, with a line break. */
  print(text: string): void;
  /** Writes anything else, such as progress, to the standard error output, with a line break. */
  note(text: string): void;
  /**
   * Shows at a terminal how something goes on, on a line that the next output replaces. Nobody reads it elsewhere, so it
   * is left out there.
   */
  progress(text: string): void;
  /** Reads the whole standard input. */
  input(): Promise<string>;
  /** Reads the standard input as it comes, in pieces that end with whole characters. */
  inputPieces(): AsyncIterable<string>;
  /** Asks the person at the terminal, and gives the answer; undefined if nobody is there to answer. */
  ask(question: string): Promise<string | undefined>;
  nowMs(): number;
}

/**
 * The exit codes: the answer is no (an invalid configuration, a refused token, an error of the server), the command
 * line or a setting is wrong, or the server can't be reached.
 */
export const exitCodes = { refused: 1, usage: 2, unreachable: 3 } as const;

/**
 * Ends a command with a message. No message quotes a secret, a token or a payload (rule A7).
 *
 * Commands throw it from wherever they find that they can't go on; only the program catches it.
 */
export class Failure extends Error {
  readonly exitCode: (typeof exitCodes)[keyof typeof exitCodes];

  constructor(message: string, exitCode: Failure["exitCode"]) {
    super(message);
    this.exitCode = exitCode;
  }
}

/** The failure of a command line or a setting that is wrong. */
export function usageFailure(message: string): Failure {
  return new Failure(message, exitCodes.usage);
}

/** The failure of a command whose answer is no. */
export function refusal(message: string): Failure {
  return new Failure(message, exitCodes.refused);
}

/** Colours that a command uses, each with one meaning. */
export interface Paint {
  readonly good: (text: string) => string;
  readonly bad: (text: string) => string;
  readonly caution: (text: string) => string;
  readonly faint: (text: string) => string;
  readonly title: (text: string) => string;
}

/** Colours a text if the shell is a terminal that shows colours; otherwise the text stays as it is. */
export function paintOf({ isTerminal, environment }: Shell): Paint {
  const isColoured = isTerminal && (environment["NO_COLOR"] ?? "") === "";
  const styled = (style: "green" | "red" | "yellow" | "dim" | "bold") => (text: string) =>
    isColoured ? styleText(style, text) : text;
  return {
    good: styled("green"),
    bad: styled("red"),
    caution: styled("yellow"),
    faint: styled("dim"),
    title: styled("bold"),
  };
}
