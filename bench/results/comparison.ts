import type { Finding } from "../scenarios/scenario.ts";
import { isPeerName, type PeerName } from "../systems/peer.ts";
import type { SystemName } from "../systems/wire.ts";
import { bySystem, limitOf, otherSystems, isOwnSystem } from "./shown-system.ts";
import { type Spread, spreadOf } from "./spread.ts";

/** All systems' figures of one measure. */
export interface Comparison {
  readonly measure: string;
  readonly unit: Finding["unit"];
  readonly better: Finding["better"];
  /** In the order in which they were found. */
  readonly points: readonly ComparedPoint[];
}

/** The systems' figures under the same circumstances. */
interface ComparedPoint {
  readonly point: string;
  readonly systems: readonly ComparedSystem[];
}

interface ComparedSystem {
  readonly system: SystemName;
  /** With a remark about this system, if there is one. */
  readonly point: string;
  readonly spread: Spread;
  /**
   * The ratio of its median to that of the limit program that writes as much; only for Dormouse, where both were
   * measured.
   */
  readonly toLimit?: number;
  /** The ratio of its median to the best of the other servers; only for Dormouse, where one was measured. */
  readonly toOthers?: number;
  /** The ratios of its median to the peers', by their names; only for Dormouse, where they were measured. */
  readonly toPeers: Readonly<Record<PeerName, number>>;
  readonly limitedByLoad: boolean;
}

/** Arranges findings by measure, by point and by system. */
export function comparisonsOf(findings: readonly Finding[]): readonly Comparison[] {
  const measures = Map.groupBy(findings, ({ measure }) => measure);
  return [...measures].flatMap(([measure, ofMeasure]) => {
    const first = ofMeasure[0];
    if (first === undefined) return [];
    const points = [...Map.groupBy(ofMeasure, placeOf).values()].map((ofPoint) => ({
      point: ofPoint[0]?.point ?? "",
      systems: comparedSystems(ofPoint),
    }));
    return [{ measure, unit: first.unit, better: first.better, points }];
  });
}

/**
 * The part of a point that findings under the same circumstances share; where a value was varied, the text may hold a
 * remark besides.
 */
export function placeOf({ point, at }: Pick<Finding, "point" | "at">): string {
  return at === undefined ? point : JSON.stringify([at.axis, at.value]);
}

/** The best median of some systems at one point; undefined where none of them was measured. */
export function bestOf(
  findings: readonly Finding[],
  systems: readonly SystemName[],
): { readonly system: SystemName; readonly median: number } | undefined {
  const medians = findings
    .filter(({ system }) => systems.includes(system))
    .map(({ system, values, better }) => ({ system, median: spreadOf(values).median, better }));
  const sorted = medians.sort((left, right) =>
    left.better === "higher" ? right.median - left.median : left.median - right.median,
  );
  return sorted[0];
}

function comparedSystems(findings: readonly Finding[]): readonly ComparedSystem[] {
  const others = bestOf(findings, otherSystems)?.median;
  return [...findings]
    .sort((left, right) => bySystem(left.system, right.system))
    .map((finding) => {
      const limit = bestOf(findings, [limitOf(finding.system)])?.median;
      return comparedSystem(finding, { limit, others, peers: peerMedians(findings) });
    });
}

/** The medians that Dormouse's are compared with. */
interface References {
  readonly limit: number | undefined;
  readonly others: number | undefined;
  readonly peers: readonly { readonly peer: PeerName; readonly median: number }[];
}

function comparedSystem(
  { system, point, values, limitedByLoad = false }: Finding,
  { limit, others, peers }: References,
): ComparedSystem {
  const spread = spreadOf(values);
  const isOwn = isOwnSystem(system);
  const toLimit = isOwn ? ratio(spread.median, limit) : undefined;
  const toOthers = isOwn ? ratio(spread.median, others) : undefined;
  return {
    system,
    point,
    spread,
    limitedByLoad,
    toPeers: isOwn ? ratiosTo(peers, spread.median) : {},
    ...(toLimit === undefined ? {} : { toLimit }),
    ...(toOthers === undefined ? {} : { toOthers }),
  };
}

function peerMedians(findings: readonly Finding[]): References["peers"] {
  return findings.flatMap(({ system, values }) =>
    isPeerName(system) ? [{ peer: system, median: spreadOf(values).median }] : [],
  );
}

function ratiosTo(peers: References["peers"], median: number): ComparedSystem["toPeers"] {
  const ratios: Record<PeerName, number> = {};
  for (const { peer, median: to } of peers) {
    const found = ratio(median, to);
    if (found !== undefined) ratios[peer] = found;
  }
  return ratios;
}

/** A ratio to zero says nothing. */
function ratio(median: number, to: number | undefined): number | undefined {
  return to === undefined || to === 0 ? undefined : median / to;
}
