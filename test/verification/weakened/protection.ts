/** The programs that check the guarantees. */
export type Program = "prove" | "simulate";

/** One part of the server that keeps a guarantee, and how to build a server without it. */
export interface Protection {
  /** The name for `--without`. */
  readonly name: string;
  /** Its purpose. */
  readonly meaning: string;
  /** The rule of src/SPEC.md that it keeps. */
  readonly rule: string;
  /** Its file, from the repository's root. */
  readonly file: string;
  /** The code, which occurs once in the file. */
  readonly code: string;
  /** The replacement of the code. */
  readonly weakened: string;
  /** The programs that have been seen to notice its absence. */
  readonly noticedBy: readonly Program[];
  /** The proof's faults that reveal its absence, as for `--faults`; absent for all faults at their usual rates. */
  readonly faults?: string;
}
