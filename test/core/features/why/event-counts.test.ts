import { expect, it } from "vitest";
import { EventCounts } from "../../../../src/features/why/object-trail.ts";

const minutes = 60_000;

it("[Y4] counts an object's events since it woke, and those of the last hour", () => {
  const events = new EventCounts();
  expect([events.first, events.counts(0)]).toEqual([undefined, []]);
  const wokeMs = 1_000_000 * minutes;
  events.note("alarm", wokeMs);
  for (let minute = 0; minute < 120; minute++) events.note("frame", wokeMs + minute * minutes);
  expect(events.first).toBe("alarm");
  const [alarm, frame] = events.counts(wokeMs + 119 * minutes);
  expect(alarm).toEqual({ kind: "alarm", sinceWake: 1, lastHour: 0 });
  expect(frame).toEqual({ kind: "frame", sinceWake: 120, lastHour: 60 });
  expect(events.counts(wokeMs + 500 * minutes)).toMatchObject([{ lastHour: 0 }, { lastHour: 0 }]);
  // A clock that was set back doesn't make counts disappear, or appear again.
  events.note("frame", wokeMs);
  expect(events.counts(wokeMs)[1]).toEqual({ kind: "frame", sinceWake: 121, lastHour: 1 });
});
