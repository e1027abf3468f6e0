/** Where a client is, as far as the choice of its gateway goes: pools are made up by continent. */
export interface Region {
  /** What the region's pool is called. */
  readonly name: string;
  /** Where the platform is to create the pool's objects; absent for wherever the first client is. */
  readonly locationHint?: LocationHint;
}

/** Those of the platform's hints (developers.cloudflare.com/durable-objects/reference/data-location) that are of use here. */
type LocationHint = "weur" | "enam" | "sam" | "apac" | "afr" | "oc";

/**
 * The region of a request.
 *
 * @param continent the two letters in the request's `cf`; a runtime that isn't Cloudflare's gives none
 */
export function parseRegion(continent: unknown): Region {
  return regions.find(({ letters }) => letters === continent)?.region ?? elsewhere;
}

/** Whether there is a region of this name: then its pool has gateways. */
export function isRegion(name: string): boolean {
  return name === elsewhere.name || regions.some(({ region }) => region.name === name);
}

// Written out, so that a region's pool is never called anything that a request says.
const regions: readonly { readonly letters: string; readonly region: Region }[] = [
  { letters: "EU", region: { name: "eu", locationHint: "weur" } },
  { letters: "NA", region: { name: "na", locationHint: "enam" } },
  { letters: "SA", region: { name: "sa", locationHint: "sam" } },
  { letters: "AS", region: { name: "as", locationHint: "apac" } },
  { letters: "AF", region: { name: "af", locationHint: "afr" } },
  { letters: "OC", region: { name: "oc", locationHint: "oc" } },
  // Nothing of the platform is nearer to Antarctica.
  { letters: "AN", region: { name: "an", locationHint: "oc" } },
];

const elsewhere: Region = { name: "any" };
