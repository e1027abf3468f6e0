import { sendAll } from "../../support/send-all.ts";
import { describe, expect, it } from "vitest";
import { limits } from "../../../src/limits.ts";
import type { Codec } from "../../../src/protocol/codec.ts";
import { disconnectCodes } from "../../../src/protocol/codes.ts";
import { jsonCodec } from "../../../src/protocol/json/codec.ts";
import type { Publication } from "../../../src/protocol/publication.ts";
import { json } from "../api/channel-config.ts";
import { asReceived, wirePublications } from "./client-decoder.ts";
import { codecs, document, queueMaxBytes, mixedHub, tagged } from "./mixed-hub.ts";
import type { RecordingSubscriber } from "./recording-subscriber.ts";

describe("encoding for several formats", () => {
  it("[F1] happens once for each publication, codec and frame, however many speak it", () => {
    const { join, hub, counts } = mixedHub();
    for (let each = 0; each < 20; each++) for (const codec of codecs) join(codec);
    for (let number = 1; number <= 3; number++) hub.publish(publication(`${number}`));
    sendAll(hub);
    expect(counts).toEqual({
      json: { pushes: 3, frames: 1 },
      protobuf: { pushes: 3, frames: 1 },
      msgpack: { pushes: 3, frames: 1 },
      one_way: { pushes: 3, frames: 1 },
    });
  });

  it.each(codecs)("[F1] isn't repeated for subscribers with filters, where $name leads", (lead) => {
    const { join, hub, counts } = mixedHub();
    join(lead);
    const tags = ["a", "b", "a", "none"];
    const subscribers = tags.map((tag) => join(jsonCodec, { filter: tagged(tag) }));
    const all = join(jsonCodec);
    for (const tag of ["a", "b", "a"]) hub.publish(publication(`"${tag}"`, { tags: { t: tag } }));
    sendAll(hub);
    // One frame with all of them, one with the two, and one with the one.
    expect(counts.json).toEqual({ pushes: 3, frames: 3 });
    expect(subscribers.map((one) => one.subscriber.received)).toEqual([
      [`"a"`, `"a"`],
      [`"b"`],
      [`"a"`, `"a"`],
      [],
    ]);
    expect(all.subscriber.received).toEqual([`"a"`, `"b"`, `"a"`]);
  });

  it("[F1] gives filters with the same result the same frame", () => {
    const { join, hub, counts } = mixedHub();
    const filters = [tagged("a"), tagged("a", "b"), tagged("a", "c"), tagged("a", "d")];
    for (const filter of filters) join(jsonCodec, { filter });
    for (const tag of ["a", "x"]) hub.publish(publication("1", { tags: { t: tag } }));
    sendAll(hub);
    expect(counts.json).toEqual({ pushes: 2, frames: 1 });
  });

  it("[F1] asks equal filters once about each publication", () => {
    const { join, hub } = mixedHub();
    const asked: unknown[] = [];
    const { text, matches } = tagged("a");
    for (let each = 0; each < 3; each++) {
      const filter = { text, matches: (tags: unknown) => asked.push(tags) > 0 && matches({}) };
      join(jsonCodec, { filter });
    }
    for (const tag of ["a", "x"]) hub.publish(publication("1", { tags: { t: tag } }));
    sendAll(hub);
    expect(asked).toEqual([{ t: "a" }, { t: "x" }]);
  });
});

describe("frames for subscribers with filters", () => {
  it("[B1] are not all cached if every filter differs", () => {
    const { join, hub, counts } = mixedHub();
    const large = JSON.stringify("x".repeat(60_000));
    const tags = Array.from({ length: 20 }, (_, index) => `${index}`);
    // A publication for all of them, so that each frame has a choice of two.
    const frameBytesMin = 60_000;
    const count = Math.ceil(limits.selectedBytesMax / frameBytesMin) + 2;
    const choices = Array.from({ length: count }, (_, index) =>
      tags.filter((_tag, place) => Math.floor(index / 2 ** place) % 2 === 1),
    );
    const filters = choices.map((chosen) => tagged("all", ...chosen));
    for (const filter of [...filters, ...filters.slice(0, 1)]) join(jsonCodec, { filter });
    for (const tag of tags) hub.publish(publication("1", { tags: { t: tag } }));
    hub.publish(publication(large, { tags: { t: "all" } }));
    sendAll(hub);
    // The first one's was made twice: it was let go meanwhile.
    expect(counts.json.frames).toBe(count + 1);
  });
});

describe("a filter", () => {
  it("[F5] that lets nothing through has nothing to catch up with", () => {
    const { join, hub } = mixedHub();
    const { subscriber } = join(jsonCodec, { filter: tagged("a") });
    hub.publish(publication("1"));
    hub.catchUp(subscriber);
    sendAll(hub);
    expect(subscriber.frames).toEqual([]);
  });

  it("[F4] neither saves a slow reader nor hides its backlog", () => {
    const { join, hub } = mixedHub();
    const slow = join(jsonCodec, { filter: tagged("a") });
    slow.subscriber.behindBytes = queueMaxBytes + 1;
    hub.publish(publication("1"));
    sendAll(hub);
    expect(slow.subscriber.disconnects).toEqual([disconnectCodes.slow]);
    hub.remove(slow.subscriber);
    for (let each = 0; each < 80; each++) {
      join(jsonCodec, { filter: tagged("a") }).subscriber.behindBytes = 900_000;
    }
    hub.publish(publication("1"));
    sendAll(hub);
    expect(hub.overloaded(0)).toBe(true);
  });
});

describe("deltas", () => {
  const documents = [1, 2, 3, 4].map((number) => document(number));

  it.each(codecs)(
    "[F1] [D1] are made once for all subscribers with the same base, in $name",
    (codec) => {
      const { join, hub, counts } = mixedHub();
      const subscribers = Array.from({ length: 10 }, () => join(codec, { delta: true }));
      for (const data of documents) {
        hub.publish({ data, offset: 1, mayBePatch: true });
        sendAll(hub);
      }
      // Once to know how large the frame gets, and once as it is sent.
      expect(counts[codec.name].pushes).toBe(2 * documents.length);
      for (const { subscriber, decoder } of subscribers) {
        const deltas = subscriber.frames.flatMap((frame) => wirePublications(codec, frame));
        expect(deltas.map(({ delta }) => delta)).toEqual([false, true, true, true]);
        expect(decoder.decode(subscriber.frames)).toEqual(
          documents.map((data) => asReceived(data, codec)),
        );
      }
    },
  );

  it("[D5] are made for a limited number of bases: a subscriber with another one gets the publication in full, and the same deltas from then on", () => {
    const { join, hub, counts } = mixedHub();
    const subscribers = Array.from({ length: limits.deltaBasesMax + 4 }, (_, index) =>
      join(jsonCodec, { delta: true, had: document(100 + index) }),
    );
    hub.publish({ data: document(1), offset: 7, mayBePatch: true });
    sendAll(hub);
    expect(counts.json.pushes).toBe(1 + limits.deltaBasesMax + 1);
    const patched = subscribers.map((one) => deltasOf(one)[0]);
    expect(patched).toEqual(subscribers.map((_, index) => index < limits.deltaBasesMax));
    const before = counts.json.pushes;
    hub.publish({ data: document(2), offset: 8, mayBePatch: true });
    sendAll(hub);
    expect(counts.json.pushes - before).toBe(2);
    for (const one of subscribers) {
      expect(deltasOf(one)[1]).toBe(true);
      expect(one.received()).toEqual(one.expected([document(1), document(2)]));
    }
  });
});

describe("a frame for several formats", () => {
  it.each(codecs)(
    "[F3] holds at most 256 publications within the size limit of the first subscriber, in $name",
    (lead) => {
      const { join, hub } = mixedHub();
      const subscribers = [lead, ...codecs].map((codec) => join(codec));
      const payloads = Array.from({ length: 600 }, (_, index) => json(`"${index}"`));
      for (const data of payloads) hub.publish({ data, offset: 0 });
      const large = json(`"${"x".repeat(30_000)}"`);
      for (const data of [large, large, large]) hub.publish({ data, offset: 0 });
      sendAll(hub);
      for (const { codec, subscriber } of subscribers) {
        const sizes = subscriber.frames.map((frame) => wirePublications(codec, frame).length);
        expect(sizes).toEqual([256, 256, expect.any(Number), expect.any(Number)]);
      }
      for (const frame of subscribers[0]?.subscriber.frames ?? []) {
        // Lengths before messages, of up to three bytes, are counted as one.
        expect(frame.length).toBeLessThanOrEqual(limits.batchBytesMax + 2 * 256);
      }
      for (const one of subscribers)
        expect(one.received()).toEqual(one.expected([...payloads, large, large, large]));
    },
  );
});

function deltasOf({
  codec,
  subscriber,
}: {
  codec: Codec;
  subscriber: RecordingSubscriber;
}): boolean[] {
  return subscriber.frames
    .flatMap((frame) => wirePublications(codec, frame))
    .map(({ delta }) => delta);
}

function publication(data: string, more: Partial<Publication> = {}): Publication {
  return { data: json(data), offset: 0, ...more };
}
