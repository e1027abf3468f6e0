/** A Worker beside the one under test, by which the test calls that one's control. */
export default {
  async fetch(request, { CONTROL }) {
    const [call, ...given] = await request.json();
    switch (call) {
      case "call":
        return called(CONTROL, given);
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

/** Makes a call of the test's own, which may throw. */
async function called(control, given) {
  try {
    return Response.json({ result: await control.call(...given) });
  } catch ({ name, message }) {
    return Response.json({ threw: { name, message } });
  }
}
