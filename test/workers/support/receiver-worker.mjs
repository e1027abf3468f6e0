/**
 * A backend that takes events, as a Worker of its own: by a service binding and as the consumer of a queue. Tests read
 * what it has taken at /taken, and set how it answers at /answer.
 */
const taken = [];
let requests = 0;
let status = 200;
let waitMs = 0;

export default {
  async fetch(request) {
    switch (new URL(request.url).pathname) {
      case "/taken":
        return Response.json({ taken, requests });
      case "/answer":
        ({ status, waitMs = 0 } = await request.json());
        return new Response();
      default:
    }
    requests++;
    const { events } = await request.json();
    await new Promise((resolve) => setTimeout(resolve, waitMs));
    if (status === 200) taken.push(...events);
    return new Response("an answer that nobody reads", { status });
  },
  async queue({ messages }) {
    requests++;
    for (const { body } of messages) taken.push(...body.events);
  },
};
