import { expect, it } from "vitest";
import { matchesGlob } from "../../../src/access/name-glob.ts";

it.each([
  ["", "", true],
  ["", "*", true],
  ["a", "a", true],
  ["a", "A", false],
  ["a", "", false],
  ["news:1", "news:*", true],
  ["news:", "news:*", true],
  ["news", "news:*", false],
  ["snews:1", "news:*", false],
  ["news:1:x", "news:*:x", true],
  ["news:x", "news:*:x", false],
  ["a.b.c", "*.*", true],
  ["abcabc", "*abc", true],
  ["abab", "ab*ab", true],
  ["aba", "ab*ba", false],
  ["new?", "new?", true],
  ["news", "new?", false],
  ["line\nbreak", "line*break", true],
])("[A14] %j and the glob %j: %s", (text, glob, matches) => {
  expect(matchesGlob(text, glob)).toBe(matches);
});
