import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { TestConnection } from "../test-connection.ts";
import { anySteps, type Step } from "../random-step.ts";
import { ChannelFixture } from "../channel-fixture.ts";

const options = {
  allow_subscribe_for_client: true,
  allow_publish_for_client: true,
  presence: true,
  allow_presence_for_client: true,
  join_leave: true,
  allow_recovery: true,
  allow_history_for_subscriber: true,
  history_size: 4,
  history_ttl: "20s",
  history_meta_ttl: "100s",
};

/** Runs the steps with a fixture that never hibernates and with one that does, and gives all frames of both. */
function live(steps: readonly Step[]): readonly string[] {
  const awake = new ChannelFixture({ options });
  const hibernating = new ChannelFixture({ options });
  const received: string[] = [];
  for (const { event, hibernatesBefore } of steps) {
    if (hibernatesBefore) hibernating.hibernate();
    const { label, apply: happen } = event;
    happen(awake);
    happen(hibernating);
    const seen = awake.connections.map(observe);
    expect({ label, seen: hibernating.connections.map(observe) }).toStrictEqual({ label, seen });
    for (const each of seen) received.push(...each.heard);
  }
  return received;
}

function observe(connection: TestConnection) {
  return {
    heard: connection.takeSent().map(withSortedPresence),
    saved: connection.saved,
    dueAtMs: connection.session.dueAtMs(Number.POSITIVE_INFINITY),
  };
}

/** The members of a presence map are in the order of the sockets, which the platform doesn't guarantee. */
function withSortedPresence(frame: string): string {
  if (!frame.startsWith(`{"id":5,"presence":`)) return frame;
  const { presence }: { presence: { presence: object } } = JSON.parse(frame);
  const members = Object.entries(presence.presence).toSorted(([left], [right]) =>
    left.localeCompare(right),
  );
  return JSON.stringify({ presence: Object.fromEntries(members) });
}

describe("an object that hibernates between any two events", () => {
  it("[S2] sends the same bytes, except for the order of presence, as one that never hibernates", () => {
    let transcript = "";
    fc.assert(
      fc.property(anySteps, (steps) => {
        transcript += live(steps).join("\n");
      }),
      { seed: 20_261_120, numRuns: 300 },
    );
    // Sequences in which little happens would prove little.
    const expected = [
      `"pub"`,
      `"join"`,
      `"leave"`,
      `"conn_info":"zoë"`,
      `"chan_info":{"n":1.0}`,
      `"recovered":true`,
      `"epoch":"epoch2"`,
      `"presence":{"c`,
      "\n{}\n",
      "close 3005",
      "close 3006",
      "close 3008",
      "close 3012",
      "close 3500",
      "close 3501",
      "close 3502",
      `"code":109`,
      `"code":112`,
      `"code":2501`,
    ];
    expect(expected.filter((part) => !transcript.includes(part))).toStrictEqual([]);
  }, 120_000);
});

describe("a publication after hibernation", () => {
  it("[S2] reaches the earlier subscribers, in the same stream", () => {
    const fixture = new ChannelFixture({ options });
    const reader = fixture.subscribed("42", `{"channel":"room","recoverable":true}`);
    fixture.publish("1");
    fixture.hibernate();
    fixture.publish("2");
    expect(reader.takeSent()).toStrictEqual([
      `{"push":{"channel":"room","pub":{"data":1,"offset":1,"epoch":"epoch1"}}}`,
      `{"push":{"channel":"room","pub":{"data":2,"offset":2}}}`,
    ]);
  });
});
