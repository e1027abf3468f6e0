import { handle } from "@astrojs/cloudflare/handler";
import { realtime } from "./realtime.ts";

export {
  BackendEntrypoint,
  ChannelObject,
  GatewayObject,
  MetricsObject,
  RealtimeEntrypoint,
  UsersObject,
} from "dormouse-realtime";

export default {
  fetch: (request, env, ctx) => realtime.fetch(request, env, ctx) ?? handle(request, env, ctx),
} satisfies ExportedHandler<Env>;
