import { limits } from "../limits.ts";
import { type ParsedPattern, parsePattern, type Part } from "./pattern-syntax.ts";

/**
 * A pattern for texts that an attacker may choose, such as channel names. It is matched in time proportional to the
 * text, as with Centrifugo's RE2. JavaScript's own expressions backtrack: with `^a*a*a*a*a*a*a*b$`, one name takes 6 s.
 *
 * The pattern is a graph of steps (Thompson's construction), and all ways through the graph are followed at once. After
 * each character of the text, a set of steps holds the ends of these ways. Each set is kept with the sets that followed
 * it, so that usual names take one look-up for each character.
 */
export class Pattern {
  readonly source: string;
  readonly #steps: readonly Step[];
  readonly #first: number;
  /** How many steps and characters may be kept. */
  readonly #keptMax: number;
  /** When a step was last visited, as a number of {@link #visit}, so that each is visited once. */
  readonly #visited: Uint32Array;
  #visit = 0;
  #sets = new Map<string, StepSet>();
  #kept = 0;
  #start: StepSet;

  private constructor(source: string, steps: readonly Step[], first: number, keptMax: number) {
    this.source = source;
    this.#steps = steps;
    this.#first = first;
    this.#keptMax = keptMax;
    this.#visited = new Uint32Array(steps.length);
    this.#start = newSet([first], undefined);
  }

  /**
   * Compiles a pattern, or says why that isn't possible.
   *
   * @param keptMax how many steps and characters it may remember from the texts that it was compared with
   */
  static compile(source: string, keptMax: number = limits.patternKeptMax): Pattern | PatternFault {
    const parsed = parsePattern(source);
    if (parsed.outcome === "fault") return parsed.fault;
    const steps: Step[] = [{ kind: "end" }];
    const first = add(parsed.part, 0, steps);
    return steps.length > limits.patternStepsMax
      ? "too-large"
      : new Pattern(source, steps, first, keptMax);
  }

  /** Its steps, with its repetitions written out. A comparison looks at each of them for each character at most. */
  get size(): number {
    return this.#steps.length;
  }

  /** Whether the pattern matches anywhere in a text. */
  test(text: string): boolean {
    let set = this.#start;
    for (const character of text) {
      const known = set.next.get(character);
      const next = known ?? this.#advance(set, character);
      if (next === "matched") return true;
      set = next;
    }
    set.atEnd ??= this.#ways(set, undefined) === "matched";
    return set.atEnd;
  }

  /** Follows all ways over the next character. */
  #advance(from: StepSet, character: string): StepSet | "matched" {
    const ways = this.#ways(from, character);
    if (ways === "matched") return this.#keep(from, character, "matched", 1);
    const next = new Set([this.#first]);
    for (const step of ways) if (step.matches(character)) next.add(step.next);
    const set = newSet(
      [...next].sort((left, right) => left - right),
      character,
    );
    const key = `${classOf(character)} ${set.steps.join(" ")}`;
    const known = this.#sets.get(key);
    if (known !== undefined) return this.#keep(from, character, known, 1);
    this.#keep(from, character, set, 2 + set.steps.length);
    this.#sets.set(key, set);
    return set;
  }

  /** The characters that may come next on some way; "matched" if a way is at its end. */
  #ways(from: StepSet, after: string | undefined): readonly CharacterStep[] | "matched" {
    const found: CharacterStep[] = [];
    const open = [...from.steps];
    this.#visit++;
    for (let index = open.pop(); index !== undefined; index = open.pop()) {
      if (this.#visited[index] === this.#visit) continue;
      this.#visited[index] = this.#visit;
      const step = this.#steps[index];
      switch (step?.kind) {
        case "end":
          return "matched";
        case "character":
          found.push(step);
          break;
        case "place":
          if (step.matches(from.before, after)) open.push(step.next);
          break;
        case "fork":
          open.push(...step.next);
          break;
        case undefined:
      }
    }
    return found;
  }

  /**
   * Remembers to which set a character leads from another set, so that the next text finds it. At
   * `limits.patternKeptMax` all sets are forgotten at once.
   *
   * @param size how much of the limit the entry takes
   */
  #keep<Next extends StepSet | "matched">(
    from: StepSet,
    character: string,
    next: Next,
    size: number,
  ): Next {
    this.#kept += size;
    if (this.#kept > this.#keptMax) {
      this.#kept = 0;
      this.#sets = new Map();
      this.#start = newSet([this.#first], undefined);
    }
    from.next.set(character, next);
    return next;
  }
}

/** Why a pattern can't be used. too-large: its repetitions, written out, take too many steps. */
export type PatternFault =
  | Extract<ParsedPattern, { readonly outcome: "fault" }>["fault"]
  | "too-large";

type Step =
  | { readonly kind: "end" }
  | CharacterStep
  | {
      readonly kind: "place";
      readonly matches: (before: string | undefined, after: string | undefined) => boolean;
      readonly next: number;
    }
  | { readonly kind: "fork"; readonly next: number[] };

interface CharacterStep {
  readonly kind: "character";
  readonly matches: (character: string) => boolean;
  readonly next: number;
}

/** Where the ways through the pattern are, after some characters of a text. */
interface StepSet {
  readonly steps: readonly number[];
  /** The character before, or one that no pattern tells from it between characters; undefined at the beginning. */
  readonly before: string | undefined;
  readonly next: Map<string, StepSet | "matched">;
  /** Whether the text matches if it ends here; undefined if that isn't known yet. */
  atEnd: boolean | undefined;
}

function newSet(steps: readonly number[], before: string | undefined): StepSet {
  return { steps, before, next: new Map(), atEnd: undefined };
}

/** Characters of one class are the same to `^`, `$`, `\b` and `\B`, with whatever flags. */
function classOf(character: string): string {
  if (/[\n\r\u2028\u2029]/.test(character)) return "line";
  if (/\w/.test(character)) return "word";
  return /\w/iu.test(character) ? "folded" : "other";
}

/**
 * Adds the steps of a part. Adds no more than a few beyond `limits.patternStepsMax`: the pattern is refused then.
 *
 * @param next the step that follows the part
 * @returns the first step of the part
 */
function add(part: Part, next: number, steps: Step[]): number {
  switch (part.kind) {
    case "character":
    case "place":
      return steps.push({ ...part, next }) - 1;
    case "sequence":
      return part.parts.reduceRight((after, one) => add(one, after, steps), next);
    case "choice":
      return fork(
        part.options.map((one) => add(one, next, steps)),
        steps,
      );
    case "repeat":
      return addRepeat(part, next, steps);
  }
}

function addRepeat(
  { part, min, max }: Extract<Part, { readonly kind: "repeat" }>,
  next: number,
  steps: Step[],
): number {
  let first = next;
  if (max === Number.POSITIVE_INFINITY) {
    const again: number[] = [next];
    first = fork(again, steps);
    again.push(add(part, first, steps));
  } else {
    for (let count = min; count < max && isSmall(steps); count++)
      first = fork([next, add(part, first, steps)], steps);
  }
  for (let count = 0; count < min && isSmall(steps); count++) first = add(part, first, steps);
  return first;
}

function isSmall(steps: readonly Step[]): boolean {
  return steps.length <= limits.patternStepsMax;
}

function fork(next: number[], steps: Step[]): number {
  return steps.push({ kind: "fork", next }) - 1;
}
