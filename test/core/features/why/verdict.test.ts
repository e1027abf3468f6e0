import { describe, expect, it } from "vitest";
import {
  noteOnNobody,
  type Passage,
  verdictOn,
  verdictOnClosed,
} from "../../../../src/features/why/verdict.ts";
import type {
  ClosedConnection,
  TrailAnswer,
  SubscriptionNote,
  TracedConnection,
} from "../../../../src/features/why/trail.ts";
import { at, frame, publishedAtMs } from "./sent-frame.ts";

/** A subscription that began so many ms before the publication, at this offset. */
const began = (beforeMs: number, offset = 4, more: Partial<SubscriptionNote> = {}) =>
  ({
    client: "c",
    user: "ada",
    atMs: publishedAtMs - beforeMs,
    event: "subscribed",
    position: at(offset),
    ...more,
  }) satisfies SubscriptionNote;
const ended = (beforeMs: number, code: number): SubscriptionNote => ({
  client: "c",
  user: "ada",
  atMs: publishedAtMs - beforeMs,
  event: "unsubscribed",
  code,
});

/** The passage of the publication at offset 5 through an object. */
function passing(object: Partial<TrailAnswer> = {}, more: Partial<Passage> = {}): Passage {
  const known = { node: "gateway:eu/0", awakeSinceMs: 1, subscribers: 1, position: at(5) };
  const nothing = { isSending: false, connections: [], closes: [], notes: [] };
  return {
    offset: 5,
    publishedAtMs,
    calls: undefined,
    object: { ...known, ...nothing, frame, ...object },
    ...more,
  };
}

function connection(more: Partial<TracedConnection> = {}): TracedConnection {
  return {
    client: "c",
    user: "ada",
    transport: "websocket",
    protocol: "json",
    openedAtMs: publishedAtMs - 60_000,
    state: "connected",
    subscription: "begun",
    backlogBytes: 0,
    ...more,
  };
}

function closed(afterMs: number, more: Partial<ClosedConnection> = {}): ClosedConnection {
  return {
    client: "c",
    user: "ada",
    openedAtMs: publishedAtMs - 60_000,
    atMs: publishedAtMs + afterMs,
    code: 3_012,
    by: "server",
    hadConnected: true,
    ...more,
  };
}

/** The outcome for a connection whose only subscription began so. */
function outcomeAfter(note: SubscriptionNote): string {
  return verdictOn(connection({ subscribed: note }), passing({ notes: [note] })).outcome;
}

/** The outcome for a connection without a subscription. */
function outcomeWithout(more: Partial<TracedConnection>): string {
  return verdictOn(connection({ subscription: "none", ...more }), passing()).outcome;
}

describe("the verdict on an open connection", () => {
  it("[Y3] is that the publication was sent, and what the client hasn't taken", () => {
    const notes = [began(4_000)];
    expect(verdictOn(connection({ backlogBytes: 9 }), passing({ notes }))).toEqual({
      outcome: "sent",
      summary:
        "client c was subscribed 4 s before the publication; the publication was handed to its socket 12 ms after the publication; the client hasn't taken 9 bytes of what it was sent yet",
    });
  });

  it("[Y3] is that it was sent for a subscription that was restored, also if the object woke for it", () => {
    const awakeSinceMs = publishedAtMs + 3;
    expect(verdictOn(connection(), passing({ awakeSinceMs }))).toEqual({
      outcome: "sent",
      summary:
        "client c is subscribed since before its object began to remember; its object woke 3 ms after the publication; the publication was handed to its socket 12 ms after the publication",
    });
    // Notes were forgotten after the frame, and the subscription may have begun since.
    const notesSinceMs = frame.begunAtMs + 1;
    expect(verdictOn(connection(), passing({ notesSinceMs })).outcome).toBe("unknown");
  });

  it("[Y3] is that a filter holds it back, or may have", () => {
    const notes = [began(4_000)];
    const verdict = (filter: TracedConnection["filter"] & string) =>
      verdictOn(connection({ filter }), passing({ notes }));
    expect(verdict("holds-back").outcome).toBe("filtered");
    expect(verdict("passes").summary).not.toContain("filter");
    expect(verdict("unknown")).toMatchObject({
      outcome: "sent",
      summary: expect.stringContaining("the tags aren't known any more"),
    });
  });

  it("[Y3] is that its object hasn't taken it, hasn't sent it, or has forgotten the frame", () => {
    const notes = [began(4_000)];
    const { frame: _, ...without } = passing({ notes }).object;
    const verdict = (object: Partial<TrailAnswer>, more: Partial<Passage> = {}) =>
      verdictOn(connection(), { ...passing(), object: { ...without, ...object }, ...more });
    const calls = {
      begunAtMs: publishedAtMs + 5,
      attempts: 3,
      endedAtMs: 1,
      outcome: "busy",
    } as const;
    expect(verdict({ position: at(4) }, { calls })).toEqual({
      outcome: "not_taken",
      summary:
        "client c was subscribed 4 s before the publication; gateway:eu/0 is at offset 4 only: 3 calls, the first began 5 ms after the publication and ended: busy",
    });
    expect(verdict({ isSending: true }).outcome).toBe("sending");
    expect(verdict({}).summary).toContain("everything up to offset 5 has been sent");
    const { sentAtMs: __, ...sending } = frame;
    expect(verdict({ frame: sending })).toMatchObject({
      outcome: "sending",
      summary: expect.stringContaining("its frame began 12 ms after"),
    });
  });

  it("[Y3] is how the subscription began after it", () => {
    expect(outcomeAfter(began(-100, 5))).toBe("subscribed_later");
    expect(outcomeAfter(began(-100, 5, { sinceOffset: 4, recovered: true }))).toBe("recovered");
    expect(outcomeAfter(began(-100, 5, { sinceOffset: 5, recovered: true }))).toBe("had_it");
    expect(outcomeAfter(began(-100, 5, { sinceOffset: 4, recovered: false }))).toBe(
      "not_recovered",
    );
    const { position: _, ...unpositioned } = began(-100);
    expect(outcomeAfter(unpositioned)).toBe("subscribed_later");
    expect(outcomeAfter({ ...unpositioned, atMs: publishedAtMs - 1 })).toBe("sent");
  });

  it("[Y3] is about the subscription of then, whatever came later", () => {
    const notes = [began(4_000), ended(-500, 2_500), began(-600, 9)];
    const subscribed = notes[2];
    expect(
      verdictOn(connection({ ...(subscribed && { subscribed }) }), passing({ notes })),
    ).toMatchObject({
      outcome: "sent",
    });
    const none = connection({ subscription: "none" });
    expect(verdictOn(none, passing({ notes: notes.slice(0, 2) })).outcome).toBe("sent");
    expect(verdictOn(none, passing({ notes: [began(4_000), ended(500, 2_500)] }))).toMatchObject({
      outcome: "unsubscribed",
      summary: expect.stringContaining("was ended with code 2500, 500 ms before the publication"),
    });
    expect(
      verdictOn(none, passing({ notes: [began(4_000), ended(500, 2_000)] })).summary,
    ).toContain("was ended with code 2000");
  });

  it("[Y3] is what the connection waited for", () => {
    expect(outcomeWithout({ state: "connecting" })).toBe("connecting");
    expect(outcomeWithout({ subscription: "pending" })).toBe("subscribing");
    expect(outcomeWithout({ openedAtMs: publishedAtMs + 1 })).toBe("connected_later");
    expect(outcomeWithout({})).toBe("not_subscribed");
  });
});

describe("the verdict on a connection that has ended", () => {
  const notes = [began(4_000)];

  it("[Y3] is that it ended before, with the code and its reason", () => {
    expect(verdictOnClosed(closed(-4_000), passing())).toEqual({
      outcome: "closed_before",
      summary:
        "wasn't connected: client c was closed with code 3012 (no pong), 4 s before the publication",
    });
    const later = passing({ notes, frame: { ...frame, begunAtMs: publishedAtMs + 50 } });
    expect(verdictOnClosed(closed(20), later).outcome).toBe("closed_before");
  });

  it("[Y3] is that it was sent, and what came after", () => {
    expect(
      verdictOnClosed(closed(7_200_000, { by: "client", code: 1_001 }), passing({ notes })),
    ).toEqual({
      outcome: "sent",
      summary:
        "the publication was handed to the socket of client c 12 ms after the publication, unless a filter held it back; it left with code 1001, 2 h after the publication",
    });
  });

  it("[Y3] is that it was too slow", () => {
    const slow = passing({ notes, frame: { ...frame, slow: 1 } });
    expect(verdictOnClosed(closed(20, { code: 3_008 }), slow).outcome).toBe("slow");
    // Another frame was too much for it.
    expect(verdictOnClosed(closed(20, { code: 3_008 }), passing({ notes })).outcome).toBe("sent");
  });

  it("[Y3] is that it wasn't subscribed, came later, or isn't known", () => {
    expect(verdictOnClosed(closed(20), passing()).outcome).toBe("not_subscribed");
    const forgotten = passing({ notesSinceMs: publishedAtMs - 1 });
    expect(verdictOnClosed(closed(20), forgotten).outcome).toBe("unknown");
    const woke = passing({ awakeSinceMs: publishedAtMs + 1 });
    expect(verdictOnClosed(closed(20), woke).outcome).toBe("unknown");
    const later = closed(20, { openedAtMs: publishedAtMs + 10 });
    expect(verdictOnClosed(later, passing()).outcome).toBe("connected_later");
    const back = passing({ notes: [began(-15, 5, { sinceOffset: 4, recovered: true })] });
    expect(verdictOnClosed(later, back).outcome).toBe("recovered");
    expect(verdictOnClosed(closed(20), passing({}, { publishedAtMs: undefined })).outcome).toBe(
      "unknown",
    );
  });
});

describe("the note on an object that knows no connection of the user", () => {
  it("[Y8] says since when it would know them", () => {
    expect(noteOnNobody(passing({ awakeSinceMs: publishedAtMs - 4_000 }))).toBe(
      "gateway:eu/0 has had connections of the user, and none since it began to remember, 4 s before the publication",
    );
    const anew = passing({ awakeSinceMs: publishedAtMs + 5 });
    expect(noteOnNobody(anew)).toBe(
      "gateway:eu/0 has had connections of the user, and none since it started anew, 5 ms after the publication: those of before were lost with its last instance, when it crashed, or had ended before it slept",
    );
    const forgetful = passing({ closesSinceMs: publishedAtMs + 5 });
    expect(noteOnNobody(forgetful)).toBe(
      "gateway:eu/0 has had connections of the user, and has forgotten all that ended before a time that is 5 ms after the publication",
    );
    const undated = passing({ awakeSinceMs: 7 }, { publishedAtMs: undefined });
    expect(noteOnNobody(undated)).toContain("none since it started anew, at some time: ");
  });

  it("[Y8] isn't there where it knows one", () => {
    expect(noteOnNobody(passing({ connections: [connection()] }))).toBeUndefined();
    expect(noteOnNobody(passing({ closes: [closed(20)] }))).toBeUndefined();
  });
});
