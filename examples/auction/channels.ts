// In a project of your own, this is "dormouse-realtime/channels".
import { channel, type ProcedureContext } from "../../package/channels.ts";

/** What the key `lot` holds: when the auction ends, and its least bid. */
interface Lot {
  readonly from: number;
  readonly endsAtMs: number;
}

/** What the keys `best` and `sold` hold. */
interface Bid {
  readonly amount: number;
  readonly by: string;
}

/** Whoever bids at the end leaves the others so much time. */
const answerMs = 5_000;

/** The code of the channels, by the names of their namespaces in wrangler.toml. */
export const channels = {
  auction: channel({
    // The others are for backends and timers.
    clients: ["bid"],
    procedures: {
      open(ctx, { from, seconds }: { from: number; seconds: number }) {
        if (ctx.get("lot") !== undefined) ctx.reject(1000, "the auction is open already");
        endAt(ctx, { from, endsAtMs: ctx.nowMs + seconds * 1_000 });
      },

      bid(ctx, { amount }: { amount: number }) {
        const lot = ctx.get<Lot>("lot");
        const best = ctx.get<Bid>("best");
        if (lot === undefined) return ctx.reject(1001, "the auction isn't open yet");
        if (ctx.get("sold") !== undefined) return ctx.reject(1002, "the auction is over");
        // A client may send anything: the types are those of the code alone.
        if (!Number.isSafeInteger(amount)) return ctx.reject(1003, "a bid is a whole number");
        if (amount < lot.from) return ctx.reject(1004, `the least bid is ${lot.from}`);
        if (best !== undefined && amount <= best.amount)
          return ctx.reject(1005, `the best bid is ${best.amount}`);
        ctx.set("best", { amount, by: ctx.user });
        endAt(ctx, { ...lot, endsAtMs: Math.max(lot.endsAtMs, ctx.nowMs + answerMs) });
        return { isBest: true };
      },

      /** Of the auctioneer: the auction ends in so many seconds, unless somebody bids. */
      hurry(ctx, { seconds }: { seconds: number }) {
        const lot = ctx.get<Lot>("lot");
        if (lot === undefined) return ctx.reject(1001, "the auction isn't open yet");
        return endAt(ctx, { ...lot, endsAtMs: ctx.nowMs + seconds * 1_000 });
      },

      /** Of the timer. */
      close(ctx) {
        ctx.set("sold", ctx.get<Bid>("best") ?? {});
      },
    },
  }),
};

/** Sets when the auction ends: the timer of that name is replaced. */
function endAt(ctx: ProcedureContext, lot: Lot): void {
  ctx.set("lot", lot);
  ctx.at("end", lot.endsAtMs, "close");
}
