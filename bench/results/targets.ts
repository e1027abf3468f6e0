import type { SystemName } from "../systems/wire.ts";
import { countMeasures } from "./count-measures.ts";
import type { Goal } from "./judge.ts";
import { otherSystems } from "./shown-system.ts";

/** Dormouse with history. */
const sockets: readonly SystemName[] = ["channel", "gateway"];
const deliveries = "deliveries a second";
const joinCost = "processor time of a join and leave";
/** Measured if it runs and is given as `--peer centrifugo=…`. */
const centrifugo: readonly SystemName[] = ["peer:centrifugo"];

/**
 * The targets of the bench, in the order of the requirements. The names of scenarios and measures are those of the
 * scenarios.
 */
export const goals: readonly Goal[] = [
  fanOut(
    "A channel socket's fan-out comes near that of the limit program that writes as much",
    { of: "channel", by: "durable-limit" },
    { is: "at least", value: 0.9 },
  ),
  fanOut(
    "A gateway's fan-out comes near that of the limit program that writes as much",
    { of: "gateway", by: "durable-limit" },
    { is: "at least", value: 0.85 },
  ),
  fanOut(
    "The same on a channel socket without history, when neither writes anything",
    { of: "channel-no-history", by: "limit" },
    { is: "at least", value: 0.9 },
  ),
  fanOut(
    "The same on a gateway without history, when neither writes anything",
    { of: "gateway-no-history", by: "limit" },
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
  smallChannels(
    "Publications to small channels come near the limit program's on channel sockets",
    "channel",
    0.85,
  ),
  smallChannels(
    "Publications to small channels reach most of the limit program's through a gateway",
    "gateway",
    0.6,
  ),
  {
    // Each channel's publication is a commit of its own object, in a batch as well, so a batch saves requests alone: the
    // limit program, which does nothing else, gains half of its rate by batches, where servers without storage gain six
    // times theirs.
    part: "c",
    sentence: "Batches of 100 gain what they gain for the limit program",
    computed: "publications a second in batches by those one by one, by that of the limit program",
    bound: { is: "at least", value: 0.95 },
    figures: (found) => found.ratios("channels", "batched by single", sockets, ["durable-limit"]),
  },
  {
    part: "d",
    sentence: "Connects come near the limit program's",
    computed: "connects a second by the limit program's",
    bound: { is: "at least", value: 0.7 },
    figures: (found) => found.ratios("connects", "connects a second", sockets, ["durable-limit"]),
  },
  {
    part: "d",
    sentence: "A token and a new user leave three quarters of the rate of connects without",
    computed: "connects a second with a token and a new user each by those without tokens",
    bound: { is: "at least", value: 0.75 },
    figures: (found) => {
      const without = found.point("no tokens").medians("connects", "connects a second", sockets);
      const withToken = found
        .point("a token each")
        .medians("connects", "connects a second", sockets);
      return withToken.flatMap(({ name, value }, index) => {
        const reference = without[index]?.value;
        return reference === undefined ? [] : [{ name, value: value / reference }];
      });
    },
  },
  {
    part: "d",
    sentence: "Connecting, not recovering, is most of a mass reconnect's time",
    computed: "time of a reconnect that recovers by that of one that missed nothing",
    bound: { is: "at most", value: 2 },
    figures: (found) => found.medians("connects", "recovering by connecting alone", sockets),
  },
  {
    part: "d",
    sentence: "Asking a backend about each connect leaves most of the rate that tokens allow",
    computed:
      "connects a second with a hook that answers after 20 ms by those with tokens, 2,000 at once in the same round",
    bound: { is: "at least", value: 0.6 },
    figures: (found) =>
      found.medians("connects", "connects a second by those with tokens", sockets),
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
      found.at(8_000).ratios("wake", "last delivery after sleep", ["channel"], ["durable-limit"]),
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
  {
    part: "i",
    sentence: "A client that comes and goes amid deliveries costs little more than with Centrifugo",
    computed: "processor time of a join and leave by Centrifugo's, at 200 clients a second",
    bound: { is: "at most", value: 1.2 },
    figures: (found) => found.at(200).ratios("churn", joinCost, sockets, centrifugo),
  },
  {
    part: "i",
    sentence: "Alone on an empty channel, it costs twice as much as with Centrifugo at most",
    computed: "processor time of a join and leave by Centrifugo's, one client after the other",
    bound: { is: "at most", value: 2 },
    figures: (found) =>
      found.point("alone on an empty channel").ratios("churn", joinCost, sockets, centrifugo),
  },
  {
    part: "i",
    sentence: "200 clients a second delay deliveries no more than with Centrifugo",
    computed: "p99 of a delivery by Centrifugo's, at the same load",
    bound: { is: "at most", value: 1 },
    figures: (found) =>
      found.at(200).ratios("churn", "latency of a delivery, p99", sockets, centrifugo),
  },
  {
    part: "j",
    sentence:
      "Beside a flooded channel of the same gateway, a quiet one is three times as slow at most",
    computed: "p99 of a delivery of the quiet channel by that alone, in the same round",
    bound: { is: "at most", value: 3 },
    figures: (found) => found.medians("neighbours", "p99 by that alone", ["gateway"]),
  },
  {
    part: "k",
    sentence: "While thousands come back at once, those that stayed wait for half a second at most",
    computed: "p99 of a delivery to those that stayed, ms",
    bound: { is: "at most", value: 500 },
    figures: (found) => found.medians("storm", "latency of those that stayed, p99", sockets),
  },
  {
    part: "l",
    sentence: "Calls of a channel's code come near its plain publications",
    computed:
      "calls a second, each with one key and one publication, by plain publications a second",
    bound: { is: "at least", value: 0.7 },
    figures: (found) => found.medians("procedures", "calls for each plain publication", sockets),
  },
];

/** The required ratio of a system's single publications to many channels to the durable limit program's. */
function smallChannels(sentence: string, of: SystemName, value: number): Goal {
  return {
    part: "c",
    sentence,
    computed:
      "publications a second to channels with one subscriber each, one by one, by the limit program's",
    bound: { is: "at least", value },
    figures: (found) =>
      found
        .ratios("channels", "publications a second", [of], ["durable-limit"])
        .filter(({ name }) => name === "single"),
  };
}

/** The required ratio of one system's deliveries a second to another's, at each number of publishers. */
function fanOut(
  sentence: string,
  { of, by }: { readonly of: SystemName; readonly by: SystemName },
  bound: Goal["bound"],
): Goal {
  return {
    part: "a",
    sentence,
    computed: "deliveries a second by the limit program's, at each number of publishers",
    bound,
    figures: (found) => found.ratios("fan-out", deliveries, [of], [by]),
  };
}
