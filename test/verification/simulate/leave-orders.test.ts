import { describe, expect, it } from "vitest";
import { complaintsOf } from "./complaints.ts";
import { PlannedOutcomes } from "./planned-outcomes.ts";
import { World } from "./world.ts";

/** The actions of two clients of one gateway, which are tried in every order. */
const actions = ["1 subscribes", "1 unsubscribes", "1 disconnects", "2 subscribes", "2 leaves"];
/** How long requests and replies take, so that they arrive in every order. */
const delays = permutations([5, 40, 90]);

const orders = permutations(actions).map((order) => ({ order, said: order.join(", ") }));

describe.each(orders)("$said", ({ order }) => {
  it("[G5] leaves no subscription behind, whatever the answers' order", () => {
    for (const pauseMs of [0, 30]) {
      for (const [first = 0, second = 0, third = 0] of delays) {
        const outcomes = new PlannedOutcomes();
        const world = new World({
          channels: ["tell:a"],
          gateways: 2,
          chooseOutcome: outcomes.chooseOutcome,
        });
        const observer = world.client({ choosePlace: () => world.gateway("g/2") });
        const [one, two] = [world.client(), world.client()];
        for (const client of [observer, one, two]) client.connect();
        observer.subscribe("tell:a");
        world.pass(1_000);
        outcomes.plan(
          "ask",
          { requestMs: first, answerMs: third },
          { requestMs: second, answerMs: first },
          { requestMs: third, answerMs: second },
        );
        outcomes.plan("deliver", { requestMs: third, answerMs: first });
        const does: Readonly<Record<string, () => void>> = {
          "1 subscribes": () => one.subscribe("tell:a"),
          "1 unsubscribes": () => one.unsubscribe("tell:a", false),
          "1 disconnects": () => one.disconnect(),
          "2 subscribes": () => two.subscribe("tell:a"),
          "2 leaves": () => two.unsubscribe("tell:a", true),
        };
        for (const action of order) {
          does[action]?.();
          world.pass(pauseMs);
        }
        const subscribed = order.indexOf("2 subscribes") > order.indexOf("2 leaves");
        expect(complaintsOf(world)).toEqual([]);
        expect(two.live).toHaveLength(subscribed ? 1 : 0);
        expect([...observer.subscription("tell:a").members].toSorted()).toEqual(
          world.present("tell:a").toSorted(),
        );
      }
    }
  });
});

function permutations<Item>(items: readonly Item[]): readonly (readonly Item[])[] {
  if (items.length <= 1) return [items];
  return items.flatMap((item, index) =>
    permutations(items.toSpliced(index, 1)).map((rest) => [item].concat(rest)),
  );
}
