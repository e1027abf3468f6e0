/**
 * A backend of hooks, as a Worker of its own beside the Worker under test. What a client sends tells it what to answer:
 * `{"answer": …}` in the data, or in the header `x-answer` for hooks without data. It keeps what it was asked, and
 * gives that at `/asked`. What it answers to polls of a channel, a test posts to `/polls`. DELETE makes it forget all.
 */
const asked = [];

/** The questions that have come of those that are to be answered together. */
const come = [];

/** By channel: the answer to its polls, how many there were, how many are open, and the most that were open at once. */
const polls = new Map();

function pollsOf(channel) {
  const known = polls.get(channel) ?? { answer: {}, asked: 0, open: 0, together: 0 };
  polls.set(channel, known);
  return known;
}

async function answerPoll({ channel }) {
  const poll = pollsOf(channel);
  poll.asked++;
  poll.open++;
  poll.together = Math.max(poll.together, poll.open);
  const { status = 200, wait = 0, body = {} } = poll.answer;
  if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait));
  poll.open--;
  return Response.json(body, { status });
}

async function control(request, channel) {
  if (request.method === "GET") return Response.json(pollsOf(channel));
  const { channel: name, answer } = await request.json();
  pollsOf(name).answer = answer;
  return Response.json({});
}

function forget() {
  asked.length = 0;
  come.length = 0;
  polls.clear();
  return new Response();
}

export default {
  async fetch(request) {
    if (request.method === "DELETE") return forget();
    const { pathname, searchParams } = new URL(request.url);
    if (pathname === "/polls") return control(request, searchParams.get("channel"));
    if (pathname === "/shared_poll_refresh") return answerPoll(await request.json());
    if (pathname === "/asked") return Response.json(asked.splice(0));
    // Redirects lead here, and nobody may follow them.
    if (pathname === "/elsewhere") return Response.json({});
    const text = await request.text();
    const headers = Object.fromEntries(request.headers);
    asked.push({ path: pathname, headers, text });
    const answer = JSON.parse(headers["x-answer"] ?? "null") ?? JSON.parse(text).data?.answer ?? {};
    const { status = 200, wait = 0, body = answer, retry, size = 0, together = 0 } = answer;
    // What doesn't fit into a header.
    const { info = 0, subs = 0, name = "" } = answer.large ?? {};
    if (info > 0) body.result.info = "x".repeat(info);
    const own = Array.from({ length: subs }, (_, index) => [
      `${name}${index}`,
      { data: "x".repeat(100) },
    ]);
    if (subs > 0) body.result.subs = Object.fromEntries(own);
    if (together > 0) come.push(pathname);
    while (come.length < together) await new Promise((resolve) => setTimeout(resolve, 10));
    if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait));
    const location = status === 302 ? { Location: "/elsewhere" } : {};
    const pause = retry === undefined ? {} : { "Retry-After": String(retry) };
    const content = size > 0 ? `{"result":{"data":"${"x".repeat(size)}"}}` : JSON.stringify(body);
    return new Response(content, { status, headers: { ...location, ...pause } });
  },
};
