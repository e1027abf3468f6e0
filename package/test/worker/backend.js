/**
 * A Worker between the one under test and the test: it takes events, which the server keeps by itself, and passes on the
 * questions of hooks. An object that had its events taken by the test's process would hold a connection to it, and couldn't
 * be evicted until the runtime collects its garbage.
 */
export default {
  fetch(request, { TEST }) {
    return request.headers.has("dormouse-hook")
      ? TEST.fetch(request)
      : new Response(null, { status: 204 });
  },
};
