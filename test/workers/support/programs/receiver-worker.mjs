/**
 * A backend that takes events, as a Worker of its own: by a service binding and as the consumer of a queue. Tests read
 * what it has taken at /taken, and set how it answers at /answer. DELETE makes it forget all.
 */
const taken = [];
let requests = 0;
let status = 200;
let waitMs = 0;

function mayAnswerNow() {
  return waitMs === 0;
}

function forget() {
  taken.length = 0;
  requests = 0;
  status = 200;
  waitMs = 0;
  return new Response();
}

export default {
  async fetch(request) {
    if (request.method === "DELETE") return forget();
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
    const endMs = Date.now() + waitMs;
    while (Date.now() < endMs && !mayAnswerNow())
      await new Promise((resolve) => setTimeout(resolve, 10));
    if (status === 200) taken.push(...events);
    return new Response("an answer that nobody reads", { status });
  },
  async queue({ messages }) {
    requests++;
    for (const { body } of messages) taken.push(...body.events);
  },
};
