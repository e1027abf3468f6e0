import { describe, expect, test } from "vitest";
import { testChannel } from "../../../../package/test/test-channel.ts";
import { channel } from "../../../../src/features/procedures/definition.ts";

interface Move {
  readonly x: number;
}

/** Whose turn it is decides, and each move is answered by the board. */
const game = channel({
  procedures: { reset: (ctx) => ctx.remove("last") },
  onPublish(ctx, { data, tags }) {
    if (ctx.isBackend) return { tags: { by: "backend" } };
    if (ctx.get("last") === ctx.user) ctx.reject(1_002, "it isn't your turn");
    ctx.set("last", ctx.user);
    if (typeof data !== "object" || data === null || !("x" in data)) throw new Error("no move");
    ctx.publish({ next: "the other" });
    return { data: { x: Number(data["x"]), move: ctx.offset + 1 }, ...(tags && { tags }) };
  },
});

describe("onPublish", () => {
  test("[PC5] decides on each publication, which comes before what the code publishes", () => {
    const room = testChannel(game);
    room.publish({ x: 1 } satisfies Move, { user: "ann" });
    expect(() => room.publish({ x: 2 }, { user: "ann" })).toThrow("it isn't your turn");
    expect(() => room.publish("none", { user: "bob" })).toThrow("no move");
    room.publish({ x: 3 }, { user: "bob" });
    room.publish("hello");
    expect(room.published).toEqual([
      { data: { x: 1, move: 1 }, offset: 1, user: "ann" },
      { data: { next: "the other" }, offset: 2 },
      { data: { x: 3, move: 3 }, offset: 3, user: "bob" },
      { data: { next: "the other" }, offset: 4 },
      { data: "hello", offset: 5, tags: { by: "backend" } },
    ]);
    expect(room.keys).toEqual({ last: "bob" });
  });

  test("[PC5] isn't asked about a publication that does nothing", () => {
    const room = testChannel(game);
    const ann = { user: "ann", idempotencyKey: "one" };
    room.publish({ x: 1 }, ann);
    // A repetition has the first result, although it isn't ann's turn any more.
    room.publish({ x: 1 }, ann);
    room.restart();
    room.publish({ x: 1 }, ann);
    expect(room.published.length).toBe(2);
  });

  test("[PC5] decides on the changes of a map's keys, and no piece of a growing value passes by it", () => {
    const room = testChannel(
      channel({
        onPublish(ctx, { key, data, removed }) {
          if (key === "locked") ctx.reject(1_000, "locked");
          if (removed === true) ctx.set("removed", key ?? "");
          return data === undefined ? undefined : { data: { by: ctx.user, data } };
        },
      }),
      { namespace: { subscription_type: "map", map: { mode: "persistent" } } },
    );
    room.set("a", 1, { user: "ann" });
    expect(() => room.set("locked", 1)).toThrow("locked");
    room.remove("a", { user: "ann" });
    room.remove("a", { user: "ann" });
    expect(room.keys).toEqual({ removed: "a" });
    expect(room.published).toEqual([
      { data: { by: "ann", data: 1 }, offset: 1, user: "ann", key: "a" },
      { data: undefined, offset: 2, user: "ann", key: "a", removed: true },
      { data: "a", offset: 3, key: "removed" },
    ]);
    expect(() => room.append("a", "text")).toThrow("not available");
  });

  test("[PC5] can't put in place what the namespace doesn't take", () => {
    const room = testChannel(
      channel({ onPublish: (_, { data }) => ({ data: data ?? "nothing" }) }),
      { namespace: { publication_data_format: "json_object" } },
    );
    expect(() => room.publish([1])).toThrow("publication_data_format");
    room.publish({ a: 1 });
    expect(room.published).toEqual([{ data: { a: 1 }, offset: 0 }]);
  });
});
