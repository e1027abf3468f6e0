/** What is wrong, without whom, where and when: two complaints with the same kind most likely have the same cause. */
export function kindOf(complaint: string): string {
  const [first = ""] = complaint.split("\n");
  return first.replaceAll(particulars, "#").replaceAll(lists, "#");
}

/** Channels; values, epochs, clients and gateways; what isn't there; numbers. */
const particulars =
  /\b(?:keep|few|last|none|tell):[a-z]\b|\b(?:api|epoch|c|g)-?\d[\w/.-]*|\bundefined\b|\d+/g;

/** However long. */
const lists = /#(?:[,:=\s]*#)*/g;
