import { changeConfig } from "../platform/embedded.ts";

/**
 * Lets the server keep what is published, if its configuration was given to `dormouse()` and has no `events`. The test kit
 * calls it before anything reads the configuration; no other bundle has this module.
 *
 * @param events the section with which the server keeps publications
 * @returns the section that is in force; undefined if no configuration was given in code
 */
export function keepPublications(events: object): object | undefined {
  let inForce: object | undefined;
  changeConfig((config) => {
    const changed = { events, ...config };
    inForce = changed.events;
    return changed;
  });
  return inForce;
}
