import { Generator } from "./generator.ts";
import type { Order } from "./orders.ts";

/** The process behind {@link Load}: answers each order by a report. */

const generator = new Generator();
process.on("message", (order: Order) => {
  void generator.carryOut(order).then((report) => process.send?.(report));
});
// Nobody is left to give orders.
process.on("disconnect", () => process.exit());
