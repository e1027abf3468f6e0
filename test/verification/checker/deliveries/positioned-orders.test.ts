import { describe, expect, it } from "vitest";
import { HistoryBuilder } from "../history-builder.ts";

/** Three publications, and a subscriber that an order subscribes from the first of them on. */
const recovered = (offset: number, ...received: readonly string[]) =>
  new HistoryBuilder("stream", 10)
    .subscribe("other")
    .publish("a", "b", "c")
    .deliver("other", 1, "a", "b", "c")
    .pass(60)
    .subscribe("s", {
      since: { epoch: "e1", offset: 1 },
      recovering: true,
      recovered: offset === 1,
      offset,
    })
    .deliver("s", offset + 1, ...received)
    .settle()
    .presence("id-other", "id-s");

describe("an order that subscribes from a position", () => {
  it("[U35] brings everything after it", () => {
    expect(recovered(1, "b", "c").violationLines()).toEqual([]);
    expect(recovered(1, "b").violationLines()).toEqual(["lost s last"]);
  });

  it("[U35] may not begin at the top without a reason", () => {
    expect(recovered(3).violationLines()).toEqual(["needless s"]);
  });
});
