/**
 * What the answer of a channel's object carries for its caller, which reports it with its own counts (rule J7). The feature
 * that counts adds the fields in its folder. @public
 */
export interface CarriedReport {
  /** The object that has counted, see `channelNode`. */
  readonly node: string;
}
