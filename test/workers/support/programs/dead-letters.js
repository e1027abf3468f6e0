/**
 * The consumer of the queue for refused messages, as a Worker of its own beside the Worker under test. It keeps what it
 * takes, and gives all of it to whoever asks. DELETE makes it forget all.
 */
const taken = [];

export default {
  queue(batch) {
    for (const { body } of batch.messages) taken.push(body);
  },
  fetch(request) {
    if (request.method === "DELETE") taken.length = 0;
    return Response.json(taken);
  },
};
