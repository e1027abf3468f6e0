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

/** Each keeps what is theirs, what is pinned stays, and an edit is marked; the code counts what was changed. */
const chat = channel({
  onPublish(ctx, { data, changes, removed, tags }) {
    if (changes === undefined) return undefined;
    if (!ctx.isBackend && changes.user !== ctx.user)
      ctx.reject(1_003, `${changes.user} wrote that`);
    if (changes.tags?.["kind"] === "pinned") ctx.reject(1_004, "it is pinned");
    ctx.set(`${removed === true ? "deleted" : "edited"} ${changes.offset}`, {
      before: changes.data ?? null,
      version: changes.version,
      tags: tags ?? null,
    });
    return removed === true ? undefined : { data: { edited: data ?? null } };
  },
});
const changing = {
  namespace: { history_size: 100, history_ttl: "24h", allow_change: true },
} as const;

describe("onPublish of edits and deletions", () => {
  test("[PC15] decides in the channel's order, and sees the publication as it is before", () => {
    const room = testChannel(chat, changing);
    room.publish("helo", { user: "ann" });
    expect(() => room.edit(1, "spam", { user: "bob" })).toThrow("ann wrote that");
    expect(() => room.delete(1, { user: "bob" })).toThrow("ann wrote that");
    expect(room.published.length).toBe(1);
    expect(room.edit(1, "hello", { user: "ann" })).toBeUndefined();
    expect(room.delete(1)).toBeUndefined();
    expect(room.published.slice(1)).toMatchObject([
      { data: { edited: "hello" }, offset: 2, user: "ann", tags: { "dormouse.update": "1" } },
      { data: null, offset: 3, tags: { "dormouse.delete": "1" } },
    ]);
    expect(room.keys).toEqual({
      "edited 1": { before: "helo", version: 1, tags: null },
      "deleted 1": { before: { edited: "hello" }, version: 2, tags: null },
    });
  });

  test("[PC15] isn't asked about a change that would change nothing", () => {
    const asked: number[] = [];
    const room = testChannel(
      channel({
        onPublish(_, { changes }) {
          if (changes !== undefined) asked.push(changes.offset);
        },
      }),
      changing,
    );
    room.publish("a");
    expect(room.edit(7, "b")).toBe("not_found");
    const once = { user: "ann", idempotencyKey: "one" };
    expect(room.edit(1, "b", once)).toBeUndefined();
    expect(room.edit(1, "b", once)).toBe("idempotency");
    expect(room.edit(2, "c")).toBe("is_change");
    expect(room.delete(1)).toBeUndefined();
    expect(room.edit(1, "d")).toBe("deleted");
    expect(asked).toEqual([1, 1]);
    expect(() => testChannel(channel({ onPublish: () => undefined })).edit(1, "b")).toThrow(
      "not available",
    );
  });

  test("[PC15] has nothing of a rejected change, nor of one that the channel doesn't take", () => {
    const room = testChannel(
      channel({
        onPublish(ctx, { changes, removed }) {
          if (changes === undefined) return undefined;
          ctx.set("changed", true);
          ctx.publish("told");
          return removed === true ? { data: "not gone" } : { data: "x".repeat(2_000_000) };
        },
      }),
      changing,
    );
    room.publish("a");
    expect(() => room.edit(1, "b")).toThrow("a publication has at most");
    expect(() => room.delete(1)).toThrow("gets no data and no tags");
    expect(room.published.length).toBe(1);
    expect(room.keys).toEqual({});
  });
});
