import { describe, expect, it } from "vitest";
import type { OrderEvent, OrderMethod } from "./history-event.ts";
import { HistoryBuilder, checkHistory } from "./history-builder.ts";

/** Ada has a connection that is subscribed and has received one publication. */
function begun(): HistoryBuilder {
  return new HistoryBuilder()
    .connect("a1", "ada")
    .subscribe("a1")
    .publish("a")
    .deliver("a1", 1, "a");
}

/** The kinds of violations and who noticed them. */
const linesOf = (history: HistoryBuilder): readonly string[] =>
  checkHistory(history.happenings).violations.map(({ kind, process }) => `${kind} ${process}`);

describe("a history of orders", () => {
  it.each<OrderMethod>(["disconnect", "block_user", "unsubscribe"])(
    "[U1] [U2] [U9] is violated by what was published after an acknowledged %s and received",
    (method) => {
      const history = begun().order("ada", method).publish("b", "c").deliver("a1", 2, "b", "c");
      // One violation for each order, however much follows.
      expect(linesOf(history)).toEqual(["unheeded a1"]);
    },
  );

  it.each<[string, HistoryBuilder]>([
    [
      "of what was published before the acknowledgement and arrived late",
      begun().invoke("b").order("ada", "disconnect").acknowledge("b").deliver("a1", 2, "b"),
    ],
    [
      "of an order that wasn't acknowledged",
      begun().order("ada", "disconnect", "info").publish("b").deliver("a1", 2, "b"),
    ],
    [
      "of another user's order",
      begun().order("eve", "disconnect").publish("b").deliver("a1", 2, "b"),
    ],
    [
      "of a connection that was accepted after the order",
      begun()
        .detach("a1")
        .askToConnect("a1", "ada")
        .order("ada", "disconnect")
        .accept("a1", "ada")
        .recover("a1", 1)
        .publish("b")
        .deliver("a1", 2, "b"),
    ],
    [
      "of a subscription that began after its unsubscribe",
      begun()
        .order("ada", "unsubscribe")
        .detach("a1")
        .recover("a1", 1)
        .publish("b")
        .deliver("a1", 2, "b"),
    ],
    [
      "of a client without a user",
      new HistoryBuilder().subscribe("s").publish("b").deliver("s", 1, "b"),
    ],
    [
      "of an unblocked user who comes back",
      begun()
        .order("ada", "block_user")
        .detach("a1", true)
        .order("ada", "unblock_user")
        .connect("a1", "ada"),
    ],
    [
      "of a user whose block failed",
      begun().order("ada", "block_user", "fail").detach("a1", true).connect("a1", "ada"),
    ],
    [
      "of a connect that was asked for before the acknowledgement",
      begun()
        .detach("a1", true)
        .askToConnect("a1", "ada")
        .order("ada", "block_user")
        .accept("a1", "ada"),
    ],
    [
      "of a token whose revocation was over when it was acknowledged",
      new HistoryBuilder()
        .connect("a1", "ada", { token: "t", issuedAt: 7 })
        .subscribe("a1")
        .order("ada", "revoke_token", "ok", { token: "t", barredFor: 0 })
        .publish("v")
        .deliver("a1", 1, "v"),
    ],
    [
      "of a user whose unblock may have come late",
      begun()
        .order("ada", "unblock_user", "info")
        .order("ada", "block_user")
        .detach("a1", true)
        .connect("a1", "ada"),
    ],
  ])("is not violated because %s", (_, history) => {
    expect(linesOf(history)).toEqual([]);
  });

  it("[U9] is violated by a blocked user who gets in", () => {
    const blocked = begun().order("ada", "block_user").detach("a1", true);
    expect(linesOf(blocked.connect("a2", "ada"))).toEqual(["admitted a2"]);
  });

  it.each<[OrderMethod, Pick<OrderEvent, "token" | "issuedBefore" | "barredFor">]>([
    ["revoke_token", { token: "t", barredFor: 1 }],
    ["invalidate_user_tokens", { issuedBefore: 8 }],
  ])(
    "[U10] [U11] is violated by what is made with a token after an acknowledged %s",
    (method, about) => {
      const connected = new HistoryBuilder()
        .connect("a1", "ada", { token: "t", issuedAt: 7 })
        .subscribe("a1")
        .order("ada", method, "ok", about);
      expect(linesOf(connected.publish("v").deliver("a1", 1, "v"))).toEqual(["unheeded a1"]);
      const again = new HistoryBuilder().order("ada", method, "ok", about);
      expect(linesOf(again.connect("a1", "ada", { token: "t", issuedAt: 7 }))).toEqual([
        "admitted a1",
      ]);
    },
  );

  it("[U10] [U11] is not violated by what is made with another token, or a newer one", () => {
    const history = new HistoryBuilder()
      .connect("a1", "ada", { token: "t", issuedAt: 8 })
      .subscribe("a1")
      .order("ada", "revoke_token", "ok", { token: "other" })
      .order("ada", "invalidate_user_tokens", "ok", { issuedBefore: 8 })
      .publish("v")
      .deliver("a1", 1, "v")
      .order("ada", "revoke_token", "ok", { token: "t", barredFor: 1 })
      .pass(1)
      .connect("a2", "ada", { token: "t", issuedAt: 8 });
    expect(linesOf(history)).toEqual([]);
  });

  it("counts the acknowledged orders", () => {
    const { counts } = begun()
      .order("eve", "disconnect")
      .order("eve", "block_user", "info")
      .check();
    expect(counts.orders).toBe(1);
  });
});
