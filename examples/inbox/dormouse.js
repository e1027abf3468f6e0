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

  /** Calls a method and gives its result. Rejects if Dormouse can't be reached, and if it answers with an error. */
  async call(method, request) {
    const response = await fetch(`${this.#address}/api/${method}`, {
      method: "POST",
      headers: { "Content-Type": "application/json", "X-API-Key": this.#key },
      body: JSON.stringify(request),
      signal: AbortSignal.timeout(10_000),
    });
    if (!response.ok) throw new Error(`${method} was answered with status ${response.status}`);
    const { result, error } = await response.json();
    if (error !== undefined) throw new Error(`${method} was answered with error ${error.code}`);
    return result;
  }
}
