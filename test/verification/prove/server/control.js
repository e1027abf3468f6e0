import unsafe from "workerd:unsafe";

/**
 * A Worker beside the one that is proved, in the same runtime: it throws away objects of that one, which nothing else can.
 * It is given their names in the query, and answers 409 when there is nothing to be thrown away.
 */

export default {
  async fetch(request, env) {
    const { pathname, searchParams } = new URL(request.url);
    const objects = env[searchParams.get("objects")];
    const object = objects.get(objects.idFromName(searchParams.get("name")));
    try {
      switch (pathname) {
        case "/evict":
          await unsafe.evict(object, { webSockets: searchParams.get("sockets") });
          break;
        case "/crash":
          await object.crash();
          break;
        case "/ring":
          await object.ring(Number(searchParams.get("afterMs")));
          break;
        case "/trouble":
          await object.makeTrouble(searchParams.get("calls"), Number(searchParams.get("forMs")));
          break;
        case "/troubled":
          return new Response(String(await object.troubledCalls()));
        default:
          return new Response("no such thing", { status: 404 });
      }
      return new Response("done");
    } catch (error) {
      return new Response(String(error), { status: 409 });
    }
  },
};
