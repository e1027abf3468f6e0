import app from "../.svelte-kit/cloudflare/_worker.js";
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
  fetch: (request, env, ctx) => realtime.fetch(request, env, ctx) ?? app.fetch(request, env, ctx),
} satisfies ExportedHandler<Env>;
