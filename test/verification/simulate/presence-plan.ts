import type { Random } from "../../support/random.ts";
import { mirrorRead, publishes } from "./mirror-plan.ts";
import { namedRandom } from "./named-random.ts";
import type { CallOutcome, ChooseOutcome } from "./network.ts";
import type { Action, Step } from "./actions.ts";
import type { PlannedClient } from "./plan.ts";
import { presenceKindOf, shownChannel } from "./presence-kinds.ts";

/**
 * Which calls for presence maps fail in a plan whose other calls and objects don't: `counts` loses and delays the answers
 * to a census, `tells` has calls that tell who comes and goes fail once or twice in a row.
 */
export type PresenceFaults = "counts" | "tells";

/** Clients of few users, so that some users are there twice. */
export function presenceClients(
  random: Random,
  clients: readonly PlannedClient[],
): readonly PlannedClient[] {
  return clients.map(({ own, given, reconnectsEarly }) => ({
    user: random.pick(["ada", "eve", "joe"]),
    ...(own === undefined ? {} : { own }),
    // A token subscribes to no map, because its subscriptions have no state.
    ...(given === shownChannel ? { given } : {}),
    reconnectsEarly,
  }));
}

/** Puts comings and goings in the place of most publications, and reads in the place of changes of the maps. */
export function withPresenceActions(
  random: Random,
  steps: readonly Step[],
  clients: number,
): readonly Step[] {
  return steps.flatMap((step): readonly Step[] => {
    const action = presenceAction(random, step, clients);
    const isLook = action.do === "subscribe" || action.do === "read state";
    const isCounted = isLook && presenceKindOf(action.channel) !== undefined;
    if (!isCounted || random.chance(0.4)) return [{ ...action, ms: step.ms }];
    // Somebody comes or goes during the census.
    const other = comeOrGo(random, random.between(0, clients - 1));
    return [
      { ...action, ms: random.between(10, 150) },
      { ...other, ms: step.ms },
    ];
  });
}

function presenceAction(random: Random, action: Action, clients: number): Action {
  if (!("channel" in action)) return action;
  const { channel } = action;
  const isMap = presenceKindOf(channel) !== undefined;
  if (publishes(action))
    return !isMap && random.chance(0.2) ? action : comeOrGo(random, random.between(0, clients - 1));
  if (!isMap || (action.do !== "read" && action.do !== "remove")) return action;
  return mirrorRead(random, channel);
}

function comeOrGo(random: Random, client: number): Action {
  const roll = random.between(0, 9);
  if (roll < 5) return { do: "subscribe", client, channel: shownChannel };
  if (roll < 8) return { do: "leave", client, channel: shownChannel };
  return { do: roll < 9 ? "break" : "connect", client };
}

/**
 * Draws the outcomes of the calls of a plan with {@link PresenceFaults}.
 *
 * @param drawn draws an outcome as for a plan in which everything fails
 */
export function presenceFaultModel(
  seed: number,
  faults: PresenceFaults,
  calm: ChooseOutcome,
  drawn: ChooseOutcome,
): ChooseOutcome {
  return (call, name) => {
    if (faults === "counts")
      return call.kind === "gather" || call.kind === "count" ? drawn(call, name) : calm(call, name);
    const number = Number(name.split(" ").at(-1));
    // The call after two that failed succeeds, because the third failure in a row would be the last try (rule Z24).
    const fails = call.kind === "tell" && number % 3 !== 0 && namedRandom(seed, name).chance(0.6);
    return fails ? refused : calm(call, name);
  };
}

const refused: CallOutcome = { errorMs: 10 };
