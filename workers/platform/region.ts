/** The region of a client, which determines its pool of gateways. There is one region for each continent. */
export interface Region {
  /** The name of the region's pool. */
  readonly name: string;
  /** Where the platform creates the pool's objects; if absent, near the first client. */
  readonly locationHint?: LocationHint;
}

/**
 * The platform's location hints (developers.cloudflare.com/durable-objects/reference/data-location) that are used here.
 */
type LocationHint = "weur" | "enam" | "sam" | "apac" | "afr" | "oc";

/**
 * The region of a request.
 *
 * @param continent the two letters in the request's `cf`; runtimes other than Cloudflare's have none
 */
export function parseRegion(continent: unknown): Region {
  return regions.find(({ letters }) => letters === continent)?.region ?? elsewhere;
}

/** Whether there is a region, and so a pool, of this name. */
export function isRegion(name: string): boolean {
  return name === elsewhere.name || regions.some(({ region }) => region.name === name);
}

// A fixed list, so that no request can choose the name of a pool.
const regions: readonly { readonly letters: string; readonly region: Region }[] = [
  { letters: "EU", region: { name: "eu", locationHint: "weur" } },
  { letters: "NA", region: { name: "na", locationHint: "enam" } },
  { letters: "SA", region: { name: "sa", locationHint: "sam" } },
  { letters: "AS", region: { name: "as", locationHint: "apac" } },
  { letters: "AF", region: { name: "af", locationHint: "afr" } },
  { letters: "OC", region: { name: "oc", locationHint: "oc" } },
  // The nearest location to Antarctica.
  { letters: "AN", region: { name: "an", locationHint: "oc" } },
];

const elsewhere: Region = { name: "any" };
