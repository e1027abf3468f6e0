import server from "../../../workers/edge.ts";

export * from "../../../workers/edge.ts";

/** A Worker of one's own with the server in it. */
const own = {
  ...server,
  fetch(request, env, context) {
    const { pathname } = new URL(request.url);
    return pathname === "/own" ? new Response("mine") : server.fetch(request, env, context);
  },
};
export default own;
