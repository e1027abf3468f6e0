/**
 * The places of gateways: a pool for each continent, with the location hint that `workers/platform/region.ts` gives it.
 *
 * The round trips are the medians (P50) between Azure's regions over the 30 days before 2026-07-30, from the row's region
 * to the column's, in ms: "Azure network round-trip latency statistics",
 * https://learn.microsoft.com/en-us/azure/networking/azure-network-latency, the page of 2026-07-30. Cloudflare publishes no
 * such table. Each hint is stood for by the region of the table that is named beside it.
 *
 * How the connections are divided among the places is assumed.
 */
export const places = {
  na: { hint: "enam", region: "East US", share: 0.3 },
  eu: { hint: "weur", region: "West Europe", share: 0.3 },
  as: { hint: "apac", region: "Southeast Asia", share: 0.25 },
  sa: { hint: "sam", region: "Brazil South", share: 0.08 },
  oc: { hint: "oc", region: "Australia East", share: 0.04 },
  af: { hint: "afr", region: "South Africa North", share: 0.03 },
} as const;

export type Place = keyof typeof places;

export const placeNames: readonly Place[] = ["na", "eu", "as", "sa", "oc", "af"];

/** Within a place the table has no figure: 2 ms are assumed. */
const roundTripMs: Readonly<Record<Place, Readonly<Record<Place, number>>>> = {
  na: { na: 2, eu: 83, as: 224, sa: 117, oc: 201, af: 219 },
  eu: { na: 85, eu: 2, as: 169, sa: 185, oc: 265, af: 166 },
  as: { na: 224, eu: 169, as: 2, sa: 330, oc: 95, af: 177 },
  sa: { na: 118, eu: 185, as: 331, sa: 2, oc: 295, af: 321 },
  oc: { na: 202, eu: 264, as: 95, sa: 295, oc: 2, af: 328 },
  af: { na: 220, eu: 166, as: 177, sa: 321, oc: 328, af: 2 },
};

/** How long a message takes from one place to another, ms: half a round trip. */
export function oneWayMs(from: Place, to: Place): number {
  return roundTripMs[from][to] / 2;
}

/** How long a message takes between a client and its gateway, ms: assumed, and drawn for each client. */
export const clientMs = { least: 5, most: 40 } as const;
