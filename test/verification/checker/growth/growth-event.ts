/**
 * What happens to texts that grow as the values of keys of a map (rules Z38 to Z43). A key is used for one text, and one
 * producer writes it. A client sees most of a text again and again, so its events tell only what is new.
 */
export type GrowthEvent =
  | AppendAsked
  | AppendAnswered
  | AppendLeft
  | TextRemoval
  | TextsFollowed
  | TextShown
  | TextsLeft
  | TextUnusable
  | TextsRead;

interface Common {
  /** µs since some fixed moment, as in `HistoryEvent`. */
  readonly time: number;
  readonly process: string;
  readonly channel: string;
}

/** A producer appends to a text. It may repeat that until it is answered, and does nothing else with the key meanwhile. */
export interface AppendAsked extends Common {
  readonly type: "invoke";
  readonly f: "append";
  readonly key: string;
  /** The length that the text has to have before, in UTF-16 units. */
  readonly at: number;
  readonly text: string;
  /** Whether this is the end of the text. */
  readonly final?: boolean;
}

export interface AppendAnswered extends Common {
  readonly type: "ok";
  readonly f: "append";
  readonly key: string;
  /** The length that the text has now. */
  readonly length: number;
  /** Why nothing was appended, such as `length_mismatch`. */
  readonly refused?: string;
  /** The epoch of the map, if the text is there. */
  readonly epoch?: string;
}

/** Nothing was appended for certain (fail), or the producer never learns whether (info). */
interface AppendLeft extends Common {
  readonly type: "fail" | "info";
  readonly f: "append";
  readonly key: string;
}

/** A producer removes a text that it has ended; the outcomes are those of an append. */
export interface TextRemoval extends Common {
  readonly type: "invoke" | "ok" | "fail" | "info";
  readonly f: "text-remove";
  readonly key: string;
  readonly epoch?: string;
  readonly offset?: number;
}

/** What a client shows of one text. */
export interface TextTold {
  readonly key: string;
  /** How many UTF-16 units of what the client showed of the key before are still there. */
  readonly kept: number;
  /** What follows them. */
  readonly added: string;
  /** Of the change that the client was told of; absent if the text isn't durable yet. */
  readonly offset?: number;
}

/** A client has synchronised the map, and shows its texts. */
export interface TextsFollowed extends Common {
  readonly type: "ok";
  readonly f: "text-follow";
  /** When the client began to ask, µs. */
  readonly asked: number;
  readonly epoch: string;
  /** Of the last change of which the client knows, or is told right after this. */
  readonly offset: number;
  /** Whether the client is told of text that isn't durable yet. */
  readonly deltas: boolean;
  /** All texts; absent if the client goes on with those that it showed before. */
  readonly texts?: readonly TextTold[];
}

/** A client is told of a change, and shows it. */
export interface TextShown extends Common, TextTold {
  readonly type: "ok";
  readonly f: "text-show";
  /** Whether the key was removed. */
  readonly removed?: boolean;
  /** Whether it may have come in one frame with what the client was told before. */
  readonly together?: boolean;
}

/** The client has noticed that its subscription has ended. It still shows the texts. */
interface TextsLeft extends Common {
  readonly type: "info";
  readonly f: "text-leave";
}

/** The client was sent what it can't show, such as a delta that doesn't fit, and begins anew. */
interface TextUnusable extends Common {
  readonly type: "info";
  readonly f: "text-unusable";
  readonly problem: string;
}

/** A backend has read the texts that are stored. */
export interface TextsRead extends Common {
  readonly type: "ok";
  readonly f: "text-read";
  /** When the backend asked, µs. */
  readonly asked: number;
  readonly epoch: string;
  readonly texts: readonly { readonly key: string; readonly text: string }[];
  /** Whether these are all texts, and everything had settled. */
  readonly last?: boolean;
}
