import type { SystemName } from "../systems/wire.ts";
import { countMeasures } from "./count-measures.ts";
import type { Goal } from "./judge.ts";
import { otherSystems } from "./shown-system.ts";

/** Dormouse with history. */
const sockets: readonly SystemName[] = ["channel", "gateway"];
const deliveries = "deliveries a second";

/**
 * The targets of the bench, in the order of the requirements. The names of scenarios and measures are those of the
 * scenarios.
 */
export const goals: readonly Goal[] = [
  fanOut(
    "A channel socket's fan-out, with history, comes near the limit program's",
    { of: "channel", by: "limit" },
    { is: "at least", value: 0.85 },
  ),
  fanOut(
    "A gateway's fan-out, with history, comes near the limit program's",
    { of: "gateway", by: "limit" },
    { is: "at least", value: 0.8 },
  ),
  fanOut(
    "The same without history, when nothing is kept, as the limit program keeps nothing",
    { of: "channel-no-history", by: "limit" },
    { is: "at least", value: 0.85 },
  ),
  {
    part: "a",
    sentence: "From 4 publishers on, both are above ws, Socket.IO and partyserver",
    computed: "deliveries a second by those of the best of the three, at 4 publishers and more",
    bound: { is: "above", value: 1 },
    figures: (found) =>
      found.from(4).ratios("fan-out", deliveries, ["channel", "gateway"], otherSystems),
  },
  {
    part: "a",
    sentence: "At 64 publishers, both deliver twice what the best of the three does",
    computed: "deliveries a second by those of the best of the three, at 64 publishers",
    bound: { is: "at least", value: 2 },
    figures: (found) =>
      found.at(64).ratios("fan-out", deliveries, ["channel", "gateway"], otherSystems),
  },
  fanOut(
    "History costs a channel socket less than 15 %",
    { of: "channel", by: "channel-no-history" },
    { is: "above", value: 0.85 },
  ),
  fanOut(
    "History costs a gateway less than 15 %",
    { of: "gateway", by: "gateway-no-history" },
    { is: "above", value: 0.85 },
  ),
  {
    part: "b",
    sentence:
      "At half of its maximum, the slowest hundredth is no slower than with the best of the others",
    computed:
      "p99 by that of the best of ws, Socket.IO and partyserver, each at 50 % of its own maximum",
    bound: { is: "at most", value: 1 },
    figures: (found) =>
      found.at(50).ratios("latency", "latency under load, p99", sockets, otherSystems),
  },
  {
    part: "c",
    sentence: "Batches of 100 publish three times what single publishes do",
    computed: "publications a second in batches by those one by one",
    bound: { is: "at least", value: 3 },
    figures: (found) => found.medians("channels", "batched by single", sockets),
  },
  {
    part: "d",
    sentence: "Connects come near the limit program's",
    computed: "connects a second by the limit program's",
    bound: { is: "at least", value: 0.7 },
    figures: (found) => found.ratios("connects", "connects a second", sockets, ["limit"]),
  },
  {
    part: "d",
    sentence: "Connecting, not recovering, is most of a mass reconnect's time",
    computed: "time of a reconnect that recovers by that of one that missed nothing",
    bound: { is: "at most", value: 2 },
    figures: (found) => found.medians("connects", "recovering by connecting alone", sockets),
  },
  {
    part: "e",
    sentence: "An awake connection takes at most 2 KiB of heap",
    computed: "bytes of heap per connection",
    bound: { is: "at most", value: 2_048 },
    figures: (found) => found.medians("memory", "heap per awake connection", sockets),
  },
  {
    part: "e",
    sentence: "A sleeping object retains nothing",
    computed:
      "bytes of heap per connection after sleep; compiled code stays, about 70 KB, however many they are",
    bound: { is: "at most", value: 32 },
    figures: (found) => found.medians("memory", "heap per sleeping connection", sockets),
  },
  {
    part: "f",
    sentence:
      "After sleep, the last of 8,000 sockets has a publication almost as soon as with the limit program",
    computed: "time to the last delivery by the limit program's, with 8,000 sockets",
    bound: { is: "at most", value: 1.3 },
    figures: (found) =>
      found.at(8_000).ratios("wake", "last delivery after sleep", ["channel"], ["limit"]),
  },
  {
    part: "g",
    sentence: "Time per publication doesn't grow with the history",
    computed: "time per publication with the longest history by that with the shortest",
    bound: { is: "at most", value: 1.25 },
    figures: (found) => found.growth("growth", "time per publication, by history", sockets, {}),
  },
  {
    part: "g",
    sentence: "Time per publication grows as the subscribers do, not faster",
    computed: "time per publication and subscriber with the most subscribers by that with 1,000",
    bound: { is: "at most", value: 1.25 },
    figures: (found) =>
      found.growth("growth", "time per publication, by subscribers", sockets, {
        reference: 1_000,
        isLinear: true,
      }),
  },
  {
    part: "h",
    sentence: "A publication with history writes one row",
    computed: "rows written per publication",
    bound: { is: "at most", value: 1 },
    figures: (found) => found.medians("counts", countMeasures.rowsWritten, ["channel"]),
  },
  {
    part: "h",
    sentence: "A publication on a channel socket takes no alarm and no call between objects",
    computed: "alarms set, alarms rung and calls between objects, per publication",
    bound: { is: "at most", value: 0 },
    figures: (found) =>
      [
        countMeasures.alarmsSet,
        countMeasures.alarmsRung,
        countMeasures.callsBetweenObjects,
      ].flatMap((measure) =>
        found
          .medians("counts", measure, ["channel"])
          .map(({ name, value }) => ({ name: `${measure}, ${name}`, value })),
      ),
  },
  {
    part: "h",
    sentence: "Publications through a gateway take one call a batch at most",
    computed: "calls between objects per publication",
    bound: { is: "at most", value: 1 },
    figures: (found) => found.medians("counts", countMeasures.callsBetweenObjects, ["gateway"]),
  },
];

/** The required ratio of one system's deliveries a second to another's, at each number of publishers. */
function fanOut(
  sentence: string,
  { of, by }: { readonly of: SystemName; readonly by: SystemName },
  bound: Goal["bound"],
): Goal {
  const ratio = by === "limit" ? "by the limit program's" : "with history by those without";
  return {
    part: "a",
    sentence,
    computed: `deliveries a second ${ratio}, at each number of publishers`,
    bound,
    figures: (found) => found.ratios("fan-out", deliveries, [of], [by]),
  };
}
