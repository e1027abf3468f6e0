import { Generator } from "./generator.ts";
import type { Order } from "./orders.ts";

/** The process behind {@link Load}: answers each order with a report. */

const generator = new Generator();
process.on("message", (order: Order) => {
  void generator.carryOut(order).then((report) => process.send?.(report));
});
// The parent process is gone.
process.on("disconnect", () => process.exit());
