import { createRequestHandler } from "react-router";
import { realtime } from "../app/realtime.ts";

export {
  BackendEntrypoint,
  ChannelObject,
  GatewayObject,
  MetricsObject,
  RealtimeEntrypoint,
  UsersObject,
} from "dormouse-realtime";

const handle = createRequestHandler(
  () => import("virtual:react-router/server-build"),
  import.meta.env.MODE,
);

export default {
  fetch: (request, env, ctx) => realtime.fetch(request, env, ctx) ?? handle(request),
} satisfies ExportedHandler<Env>;
