/**
 * What a channel's object tells a user's home: that it keeps something of the user (rule CU31). During a deploy the two
 * sides may be one release apart (rule V1): fields are only added, and the absence of an added field has a meaning.
 */
export interface KeptUser {
  readonly user: string;
  /** For how long already, ms by the clock of the channel's object. */
  readonly forMs: number;
}

/** What a channel's object tells a home of all its users for whom that home is. */
export interface ToldUsers {
  readonly channel: string;
  readonly kept: readonly KeptUser[];
}

/** The user to be forgotten. */
export interface ForgottenHere {
  readonly user: string;
}

/** The answer of a home, which knows now that the channel keeps something of the others. */
export interface KeptAnswer {
  /** The users of whom the channel is to delete everything (rules CU32 and CU34). */
  readonly forget: readonly string[];
}
