import app from "./.open-next/worker.js";
import { realtime } from "./realtime.js";

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
};
