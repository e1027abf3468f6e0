import unsafe from "workerd:unsafe";

/** A Worker beside the one that is measured, in the same runtime: it puts all objects to sleep at once, which nothing else can. */

export default {
  async fetch() {
    await unsafe.evictAllDurableObjects({ webSockets: "hibernate" });
    return new Response("{}");
  },
};
