import type { JsonText } from "../../../protocol/json/text.ts";

/**
 * What the object of a channel tells the object of its receipts, and is asked by it (rules CU38 and CU39). During a deploy
 * the two sides may be one release apart (rule V1): fields are only added, and the absence of an added field has a meaning.
 */
export interface ReceiptsTold {
  /** The channel. */
  readonly source: string;
  /** Names the kind of the keys and their epoch. If it differs from that of the last list, a new list is needed. */
  readonly edition: string;
  /** In the order in which they happened, one for each key. */
  readonly changes: readonly ReceiptKey[];
}

/** The question for everything that receipts show. */
export interface ReceiptsQuestion {
  /** The channel of the receipts. */
  readonly receipts: string;
}

/** The answer to it. none: the channel has no such receipts. */
export type ReceiptsAnswer =
  | {
      readonly outcome: "listed";
      readonly edition: string;
      readonly keys: readonly ReceiptKey[];
    }
  | { readonly outcome: "none" };

/** A key of receipts: a user, or an offset up to which users have read. */
export interface ReceiptKey {
  readonly key: string;
  /** The value, a JSON object. Absent: the key is gone. */
  readonly data?: JsonText;
}
