/** A complaint without names, places and numbers. Two complaints of the same kind most likely have the same cause. */
export function kindOf(complaint: string): string {
  const [first = ""] = complaint.split("\n");
  return first.replaceAll(particulars, "#").replaceAll(lists, "#");
}

/** Channels; values, epochs, clients and gateways; undefined; numbers. */
const particulars =
  /\b(?:keep|few|last|none|tell|map|slim|perm|temp|poll|vers|edit|brief):[a-z]\b|\b(?:api|epoch|text|c|g\/|user)-?\d[\w/.-]*|\bk\d\b|\bundefined\b|\d+/g;

/** Lists of any length. */
const lists = /#(?:[,:=\s]*#)*/g;
