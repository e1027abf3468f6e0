import { setTimeout as pause } from "node:timers/promises";
import express from "express";
import { Webhook } from "standardwebhooks";

/**
 * Lets a request pass if Dormouse has signed it, and parses its body. The signature is of the bytes that came, so the
 * body mustn't be parsed before.
 *
 * @param {string} secret of Dormouse's HOOK_SIGNING_SECRET, in the form `whsec_…`
 */
export function signedByDormouse(secret) {
  const webhook = new Webhook(secret);
  return [
    express.text({ type: "application/json", limit: "2mb" }),
    (request, response, next) => {
      try {
        request.body = webhook.verify(request.body, request.headers);
      } catch (error) {
        console.error(`A request that Dormouse hasn't signed was refused: ${error.message}`);
        response.sendStatus(401);
        return;
      }
      next();
    },
  ];
}

/** Calls methods of Dormouse's HTTP API. */
export class DormouseApi {
  #address;
  #key;

  /**
   * @param {string} address such as `http://localhost:8787`
   * @param {string} key     Dormouse's API_KEY
   */
  constructor(address, key) {
    this.#address = address;
    this.#key = key;
  }

  /**
   * Calls a method, and gives its result.
   *
   * @throws {DormouseFailure}
   */
  async call(method, request) {
    let answer;
    try {
      const response = await fetch(`${this.#address}/api/${method}`, {
        method: "POST",
        headers: { "Content-Type": "application/json", "X-API-Key": this.#key },
        body: JSON.stringify(request),
        signal: AbortSignal.timeout(10_000),
      });
      if (!response.ok) {
        const isTemporary = response.status === 429 || response.status >= 500;
        throw new DormouseFailure(`${method}: status ${response.status}`, isTemporary);
      }
      answer = await response.json();
    } catch (error) {
      if (error instanceof DormouseFailure) throw error;
      throw new DormouseFailure(`${method}: ${error.cause?.code ?? error.message}`, true);
    }
    const { result, error } = answer;
    if (error === undefined) return result;
    throw new DormouseFailure(
      `${method}: ${error.code} ${error.message}`,
      error.temporary === true,
    );
  }

  /**
   * Calls a method until it was carried out: Dormouse may be away for a while. A call may be carried out without its
   * answer coming back, so this is for requests that may be repeated.
   *
   * @throws {DormouseFailure} that isn't temporary
   */
  async callUntilDone(method, request) {
    for (let pauseMs = 100; ; pauseMs = Math.min(2 * pauseMs, 2_000)) {
      try {
        return await this.call(method, request);
      } catch (error) {
        if (!error.isTemporary) throw error;
        if (pauseMs === 800)
          console.error(`Dormouse is asked again until it answers: ${error.message}`);
      }
      await pause(pauseMs);
    }
  }
}

/** A call that wasn't carried out, or of which that isn't known. */
export class DormouseFailure extends Error {
  /** Whether the same call may succeed later. */
  isTemporary;

  constructor(message, isTemporary) {
    super(message);
    this.isTemporary = isTemporary;
  }
}
