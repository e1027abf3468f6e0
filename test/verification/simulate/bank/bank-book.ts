import { Records } from "../../../support/records.ts";

/** What all who ask the banks of a world share. */
export class BankBook {
  /** The promises that were acknowledged, by bank. */
  readonly promised = new Records((_bank) => new Set<string>());
  /** What was asked for and has no outcome yet. */
  pending = 0;
}
