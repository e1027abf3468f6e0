import { expect, it } from "vitest";
import { channel } from "../../../src/features/procedures/definition.ts";
import type { CallProcedure } from "../../../workers/embedded/procedure-calls.ts";

const channels = {
  auction: channel({
    procedures: {
      bid(ctx, { amount }: { amount: number }) {
        ctx.set("best", amount);
        return { isBest: amount > 5 };
      },
      close(ctx) {
        ctx.cancel("end");
      },
    },
  }),
  votes: channel({ procedures: { vote: (ctx, option: string) => option.length + ctx.nowMs } }),
};

/** Never called: the compiler alone looks at it. */
async function typed(
  call: CallProcedure<[], typeof channels>,
  untyped: CallProcedure<[], Readonly<Record<string, never>>>,
  id: string,
): Promise<boolean> {
  const { isBest }: { isBest: boolean } = await call("auction:7", "bid", { amount: 5 });
  await call(`auction:${id}`, "bid", { amount: 5 }, { idempotencyKey: "k" });
  await call("auction:7", "close");
  await call("auction:7", "close", undefined, { idempotencyKey: "k" });
  const votes: number = await call("votes:lunch", "vote", "soup");
  await call(id, "vote", "soup");
  // @ts-expect-error: no such procedure
  await call("auction:7", "sell", { amount: 5 });
  // @ts-expect-error: of another namespace
  await call("auction:7", "vote", "soup");
  // @ts-expect-error: a wrong argument
  await call("auction:7", "bid", { amount: "5" });
  // @ts-expect-error: an argument is missing
  await call("auction:7", "bid");
  // @ts-expect-error: no namespace with code
  await call("news:7", "bid", { amount: 5 });
  // @ts-expect-error: close takes nothing
  await call("auction:7", "close", { amount: 5 });
  await untyped("auction:7", "anything", { amount: 5 });
  return isBest && votes > 0;
}

it("the names, the arguments and the results of procedures are typed by the code of the channels", () => {
  expect(typed).toBeTypeOf("function");
});
