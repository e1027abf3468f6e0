import { afterEach, describe, expect, it, vi } from "vitest";
import { MemberRoll } from "../../../../src/features/pusher/channel/member-roll.ts";
import { PusherCodec } from "../../../../src/features/pusher/codec.ts";
import { Hub } from "../../../../src/hub/hub.ts";
import type { Push } from "../../../../src/protocol/reply.ts";
import { type Plan, planOf } from "../plan.ts";
import { run } from "../run.ts";

afterEach(() => {
  vi.restoreAllMocks();
});

/** The first plans with clients of the Pusher protocol. */
const plans = [...pusherPlans(60)];

function* pusherPlans(count: number): Generator<Plan> {
  let left = count;
  for (let seed = 1; left > 0; seed++) {
    const plan = planOf(seed);
    if (plan.pusherClients === undefined) continue;
    left--;
    yield plan;
  }
}

/** Whether one of the plans has a complaint with this text. */
function complains(text: string): boolean {
  return plans.some((plan) => run(plan).complaints.some((one) => one.includes(text)));
}

/** A member leaves, and its channel's object crashes when it has stored that, before it could tell it. */
const untold: Plan = {
  seed: 1,
  faultShare: 0,
  channels: ["app:presence-room"],
  gateways: 1,
  clients: [],
  pusherClients: 5,
  outcomes: {},
  steps: [
    { do: "pusher connect", who: 0, ms: 0 },
    { do: "pusher enter", who: 0, channel: "app:presence-room", ms: 0 },
    { do: "pusher connect", who: 4, ms: 0 },
    { do: "pusher enter", who: 4, channel: "app:presence-room", ms: 200 },
    { do: "pusher exit", who: 4, channel: "app:presence-room", ms: 0 },
    { do: "crash at commit", object: "app:presence-room", ms: 50 },
  ],
};

describe("clients of the Pusher protocol among faults", () => {
  it("[PU2][PU3][PU5][PU6][PU9][PU14] get each event once and in order, and each member comes and goes once", () => {
    expect(plans.flatMap((plan) => run(plan).complaints)).toEqual([]);
  });

  it("[PU14] are told of a leave that was stored and not told before a crash", () => {
    expect(run(untold).complaints).toEqual([]);
  });
});

describe("a fault that is planted is found:", () => {
  it("an event is lost", () => {
    plantIn((frame, count) => (count % 20 === 0 ? "" : frame));
    expect(complains("lacks what was published before")).toBe(true);
  });

  it("an event comes twice", () => {
    plantIn((frame, count) => (count % 20 === 0 ? `${frame}\n${frame}` : frame));
    expect(complains("again, or late")).toBe(true);
  });

  it("a leave isn't announced", () => {
    vi.spyOn(MemberRoll.prototype, "leave").mockReturnValue("known");
    expect(complains(" on app:presence-room, where ")).toBe(true);
  });

  it("joins and leaves that a gateway has missed stay so", () => {
    vi.spyOn(Hub.prototype, "missedJoins").mockImplementation(() => undefined);
    expect(complains(" on app:presence-room, where ")).toBe(true);
  });
});

/** Changes the frames of publications. @param plant takes the frame, and how many there were */
function plantIn(plant: (frame: string, count: number) => string): void {
  const original = Reflect.get(PusherCodec.prototype, "encodePush");
  let count = 0;
  vi.spyOn(PusherCodec.prototype, "encodePush").mockImplementation(function (
    this: PusherCodec,
    push: Push,
  ) {
    const frame = String(original.call(this, push));
    return push.type === "publication" ? plant(frame, ++count) : frame;
  });
}
