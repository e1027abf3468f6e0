declare module "../../../contract/channel-call.ts" {
  interface ChannelOperations {
    /** Makes these users, and nobody else, the audience of a channel (rule CU21). */
    readonly set_audience: Changing<MembersRequest>;
    readonly add_audience: Changing<MembersRequest>;
    readonly remove_audience: Changing<MembersRequest>;
    /** Lists the audience, in pages. */
    readonly audience: Reading<AudienceQuery>;
  }
}

declare module "../../../contract/relay-batch.ts" {
  interface RelayEntries {
    /** Users become members of the channel's audience. It goes to the channel's object only. */
    readonly members: { readonly users: readonly string[] };
  }
}

/** Users, each named once. */
interface MembersRequest {
  readonly users: readonly string[];
}

/** A page of an audience. */
export interface AudienceQuery {
  /** The most members of the page, at least 1. */
  readonly limit: number;
  /** The cursor of the page before; "" for the first page. */
  readonly cursor: string;
}
