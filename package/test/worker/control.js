/** A Worker beside the one under test, by which the test calls that one's control. */
export default {
  async fetch(request, { CONTROL }) {
    const [call, ...given] = await request.json();
    switch (call) {
      case "objects":
      case "nowMs":
      case "step":
      case "wipe":
      case "know":
      case "embeddedEvents":
      case "configurationProblems":
        return Response.json((await CONTROL[call](...given)) ?? null);
      default:
        return new Response(`${call} is no call`, { status: 404 });
    }
  },
};
