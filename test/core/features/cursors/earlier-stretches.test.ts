import { describe, expect, it } from "vitest";
import type { Channel } from "../../../../src/channel/channel.ts";
import type { ChannelPart } from "../../../../src/channel/channel-part.ts";
import { ChannelAudience } from "../../../../src/features/cursors/audience/channel-audience.ts";
import { CountedStretch } from "../../../../src/features/cursors/audience/counted-stretch.ts";
import { ChannelCursors } from "../../../../src/features/cursors/channel-cursors.ts";
import type { Coverage } from "../../../../src/features/cursors/coverage.ts";
import { cursorLimits } from "../../../../src/features/cursors/limits.ts";
import type { ToldEvent } from "../../../../src/object/part.ts";
import { ChannelFixture } from "../../session/channel-fixture.ts";

const notifyAfterMs = 60_000;

/** A channel with these members, whose backend is told what they haven't seen. */
class ToldFixture extends ChannelFixture {
  constructor(members: readonly string[], cursors: object = {}) {
    super({
      options: {
        history_size: 1_000,
        history_ttl: "1h",
        history_meta_ttl: "2h",
        cursors: { enabled: true, audience: "named", notify_after: "60s", ...cursors },
      },
      events: { target: "queue:EVENTS", types: ["unseen", "seen"] },
    });
    this.audience.carryOut({ method: "add_audience", request: { users: members } }, this.nowMs);
  }

  get cursors(): ChannelCursors {
    return partOf(this.channel, ChannelCursors);
  }

  get audience(): ChannelAudience {
    return partOf(this.channel, ChannelAudience);
  }

  prove(user: string, since: number, offset: number): void {
    const { epoch = "" } = this.channel.top ?? {};
    const proof: Coverage = { epoch, since, offset, by: "ping", atMs: 7 };
    this.cursors.prove(user, proof, this.nowMs);
  }

  /** What a user has got before the newest stretch, as far as it is kept. */
  earlierOf(user: string): readonly string[] {
    const { epoch = "" } = this.channel.top ?? {};
    const stretches = this.cursors.kept.earlier.of(user, epoch);
    return stretches.map(({ since, offset }) => `${since + 1}-${offset}`);
  }

  /** Judges all that is old enough some time later, and gives what a backend is told of. */
  judged(): readonly string[] {
    this.nowMs += 2 * notifyAfterMs;
    const { notices } = this.audience;
    const range = notices?.progress.next(this.nowMs);
    if (notices === undefined || range === undefined) return [];
    const told: string[] = [];
    notices.judge.tell = (event) => void told.push(shown(event));
    const stretch = new CountedStretch(range.after, range.last, notices.filter);
    while (!stretch.read(this.channel.stored, 500));
    const slice = { after: "", limit: 100 };
    notices.judge.report(range, stretch, new Map(), slice, this.nowMs);
    return told;
  }
}

function partOf<Part extends ChannelPart>(
  { parts }: Channel,
  wanted: abstract new (...made: never[]) => Part,
): Part {
  const part = parts.find((one) => one instanceof wanted);
  if (part instanceof wanted) return part;
  throw new Error("the channel has no such part");
}

const shown = ({ type, user, from, to }: ToldEvent): string => `${type} ${user} ${from}-${to}`;

/** Publishes, and ends the event of the object. */
function fill(fixture: ToldFixture, count: number): void {
  for (let index = 0; index < count; index++) fixture.publish(`${index}`);
  fixture.audience.notices?.progress.note(fixture.nowMs);
}

const states = [
  { name: "awake", between: () => undefined },
  { name: "hibernated", between: (fixture: ChannelFixture) => fixture.hibernate() },
];

describe.each(states)("what a member has got with holes between it, $name", ({ between }) => {
  it("[CU45] [CU23] isn't told as unseen, in whatever order it becomes known", () => {
    const fixture = new ToldFixture(["ann", "bob"]);
    fill(fixture, 8);
    for (const since of [0, 3, 6]) {
      fixture.prove("ann", since, since + 2);
      between(fixture);
    }
    for (const since of [6, 0, 3]) fixture.prove("bob", since, since + 2);
    between(fixture);
    expect(fixture.earlierOf("ann")).toEqual(["1-2", "4-5"]);
    const holes = ["3-3", "6-6"];
    expect(fixture.judged()).toEqual(
      ["ann", "bob"].flatMap((user) => holes.map((hole) => `unseen ${user} ${hole}`)),
    );
  });

  it("[CU45] is kept until it is judged, and no longer than the next judgement", () => {
    const fixture = new ToldFixture(["ann"]);
    fill(fixture, 8);
    for (const since of [0, 3, 6]) fixture.prove("ann", since, since + 2);
    fixture.judged();
    fixture.prove("ann", 1, 2);
    expect(fixture.earlierOf("ann")).toEqual(["1-2", "4-5"]);
    between(fixture);
    fill(fixture, 1);
    expect(fixture.judged()).toEqual(["unseen ann 9-9"]);
    expect(fixture.earlierOf("ann")).toEqual([]);
  });

  it("[CU45] is kept of members, where a backend is told what hasn't arrived, and of nothing else", () => {
    const other = new ToldFixture(["bob"]);
    const read = new ToldFixture(["ann"], { notify_unless: "read" });
    for (const fixture of [other, read]) {
      fill(fixture, 5);
      for (const since of [0, 3]) fixture.prove("ann", since, since + 2);
      between(fixture);
      expect(fixture.earlierOf("ann")).toEqual([]);
    }
  });

  it("[CU45] [CU30] is forgotten with the user, and says nothing of another epoch", () => {
    const fixture = new ToldFixture(["ann", "bob"]);
    fill(fixture, 5);
    for (const user of ["ann", "bob"])
      for (const since of [0, 3]) fixture.prove(user, since, since + 2);
    between(fixture);
    fixture.cursors.kept.forget("ann");
    between(fixture);
    expect([fixture.earlierOf("ann"), fixture.earlierOf("bob")]).toEqual([[], ["1-2"]]);
    fixture.pass(3 * 3_600_000);
    between(fixture);
    fill(fixture, 5);
    expect(fixture.judged()).toEqual(["unseen bob 1-5"]);
  });

  it("[CU45] over the bound of its stretches the smallest hole counts as got, and nothing that was got is told", () => {
    const fixture = new ToldFixture(["ann"]);
    const count = cursorLimits.stretchesMax + 2;
    // Each stretch has one publication, and a hole of two before it; the fourth one has a hole of one.
    const offsets = Array.from({ length: count }, (_, index) => index * 3 + (index > 3 ? 3 : 4));
    fill(fixture, count * 3 + 2);
    for (const offset of offsets) fixture.prove("ann", offset - 1, offset);
    between(fixture);
    expect(fixture.earlierOf("ann")).toHaveLength(cursorLimits.stretchesMax);
    const told = fixture.judged();
    expect(told).toHaveLength(count);
    expect(told).not.toContain("unseen ann 14-14");
    for (const one of told) {
      const [from, to] = one.slice("unseen ann ".length).split("-").map(Number);
      for (const offset of offsets) expect(offset < (from ?? 0) || offset > (to ?? 0)).toBe(true);
    }
  });
});
