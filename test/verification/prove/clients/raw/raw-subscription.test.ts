import { describe, expect, it } from "vitest";
import { recordedHistory } from "../../history/recorded-history.ts";
import type { Recovery } from "../plan.ts";
import { RawSubscription } from "./raw-subscription.ts";
import { ClientRecorder } from "../client-recorder.ts";

const recorded = recordedHistory();

describe("a raw subscription", () => {
  it("recovers from the last recorded publication after a lost connection", () => {
    const { subscription } = subscribe("stream");
    subscription.attach({ recoverable: true, epoch: "e", offset: 3 }, false, "c1", 1);
    subscription.hear({ data: "x", offset: 4 }, 2);
    subscription.break(3);

    expect(subscription.request).toEqual({
      channel: "keep:a",
      recover: true,
      epoch: "e",
      offset: 4,
    });
  });

  it("records a reply with the position recovered from, and then the recovered publications", async () => {
    const { subscription, history } = subscribe("stream");
    subscription.attach(
      {
        recoverable: true,
        recovered: true,
        epoch: "e",
        offset: 3,
        publications: [
          { data: "x", offset: 4 },
          { data: "y...", offset: 5 },
        ],
      },
      true,
      "c1",
      1,
    );

    const common = { time: 1, process: "s1", type: "ok", channel: "keep:a" };
    expect(await history()).toEqual([
      {
        ...common,
        f: "subscribe",
        client: "c1",
        recovering: true,
        recovered: true,
        epoch: "e",
        offset: 3,
      },
      { ...common, f: "deliver", value: "x", offset: 4 },
      { ...common, f: "deliver", value: "y", offset: 5 },
    ]);
    expect(subscription.request).toMatchObject({ offset: 5 });
  });

  it("ignores publications between its unsubscribe and the reply, and recovers them", async () => {
    const { subscription, history } = subscribe("stream");
    subscription.attach({ recoverable: true, epoch: "e" }, false, "c1", 1);
    subscription.leave(2, false);
    subscription.hear({ data: "x", offset: 1 }, 3);

    expect(subscription.request).toMatchObject({ recover: true, offset: 0 });
    expect((await history()).map(({ f }) => f)).toEqual(["subscribe", "detach"]);
  });

  it("records unexpected publications without moving its position", async () => {
    const { subscription, history } = subscribe("stream");
    subscription.attach({ recoverable: true, epoch: "e" }, false, "c1", 1);
    subscription.lose(2500, 2);
    subscription.hear({ data: "x", offset: 1 }, 3);

    expect(subscription.request).toMatchObject({ offset: 0 });
    expect((await history()).map(({ f }) => f)).toEqual(["subscribe", "signal", "deliver"]);
  });

  it("doesn't ask to recover after it forgot its position, or on a channel without recovery", () => {
    const { subscription: forgetful } = subscribe("stream");
    forgetful.attach({ recoverable: true, epoch: "e", offset: 3 }, false, "c1", 1);
    forgetful.leave(2, true);
    const { subscription: without } = subscribe("none");
    without.attach({}, false, "c1", 1);
    without.break(2);

    expect(forgetful.request).toEqual({ channel: "keep:a" });
    expect(without.request).toEqual({ channel: "keep:a" });
  });
});

function subscribe(recovery: Recovery) {
  const { recorder, events: history } = recorded();
  return {
    subscription: new RawSubscription("keep:a", "s1", recovery, new ClientRecorder(recorder)),
    history,
  };
}
