/**
 * A backend of hooks, as a Worker of its own beside the Worker under test. What a client sends tells it what to answer:
 * `{"answer": …}` in the data, or in the header `x-answer` for hooks without data. It keeps what it was asked, and
 * gives that at `/asked`.
 */
const asked = [];

export default {
  async fetch(request) {
    const { pathname } = new URL(request.url);
    if (pathname === "/asked") return Response.json(asked.splice(0));
    // Redirects lead here, and nobody may follow them.
    if (pathname === "/elsewhere") return Response.json({});
    const text = await request.text();
    const headers = Object.fromEntries(request.headers);
    asked.push({ path: pathname, headers, text });
    const answer = JSON.parse(headers["x-answer"] ?? "null") ?? JSON.parse(text).data?.answer ?? {};
    const { status = 200, wait = 0, body = answer, retry, size = 0 } = answer;
    if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait));
    const location = status === 302 ? { Location: "/elsewhere" } : {};
    const pause = retry === undefined ? {} : { "Retry-After": String(retry) };
    const content = size > 0 ? `{"result":{"data":"${"x".repeat(size)}"}}` : JSON.stringify(body);
    return new Response(content, { status, headers: { ...location, ...pause } });
  },
};
