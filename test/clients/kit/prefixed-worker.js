import { Hono } from "hono";
import { dormouse } from "../../../package/index.ts";

export * from "../../../package/index.ts";

const orders = { allow_subscribe_for_client: true, history_size: 100, history_ttl: "5m" };
const realtime = dormouse({
  prefix: "/realtime",
  config: { channel: { namespaces: [{ name: "orders", ...orders }] } },
});

/** A Worker of one's own whose real-time layer is below a prefix. */
const own = new Hono();
own.get("/own", (context) => context.text("mine"));
own.route("/realtime", realtime.app);
export default { fetch: own.fetch };
