import { readdirSync, readFileSync } from "node:fs";

/** A command line that a page shows. */
export interface DocumentedCommand {
  readonly page: string;
  readonly line: number;
  readonly text: string;
  /** The output that the page shows; "" for none. */
  readonly output: string;
}

/** A block of code that has no command: a page, and its first line. */
export interface OtherBlock {
  readonly page: string;
  readonly line: number;
  readonly text: string;
}

/** The README, and the pages in docs. */
const pages = [
  "README.md",
  ...readdirSync("docs")
    .filter((name) => name.endsWith(".md"))
    .map((name) => `docs/${name}`),
];

interface Line {
  readonly number: number;
  readonly text: string;
}

/**
 * All commands of all pages, in their order, and the blocks of code without a language that have none.
 *
 * @param of        the pages
 * @param languages of fenced blocks that have commands; "" is that of none
 */
export function documentedCommands(
  of: readonly string[] = pages,
  languages: readonly string[] = ["", "sh"],
): {
  readonly commands: readonly DocumentedCommand[];
  readonly others: readonly OtherBlock[];
} {
  const commands: DocumentedCommand[] = [];
  const others: OtherBlock[] = [];
  for (const page of of) {
    for (const block of blocksOf(readFileSync(page, "utf8"), languages)) {
      const found = commandsOf(page, block);
      commands.push(...found);
      const [first] = block;
      if (found.length === 0 && first !== undefined)
        others.push({ page, line: first.number, text: first.text });
    }
  }
  return { commands, others };
}

/** Indented blocks of code, and those between fences in one of the languages. */
function blocksOf(text: string, languages: readonly string[]): readonly (readonly Line[])[] {
  const blocks: Line[][] = [];
  let fence: string | undefined;
  let block: Line[] | undefined;
  let inList = false;
  for (const [index, line] of text.split("\n").entries()) {
    const number = index + 1;
    const fenced = /^\s*```(\w*)/.exec(line);
    if (fenced !== null) {
      fence = fence === undefined ? (fenced[1] ?? "") : undefined;
      block = fence !== undefined && languages.includes(fence) ? [] : undefined;
      if (block !== undefined) blocks.push(block);
    } else if (fence !== undefined) {
      block?.push({ number, text: line });
    } else if (/^(?:[*-]|\d+\.) /.test(line)) {
      inList = true;
      block = undefined;
    } else if (line !== "" && !line.startsWith("    ")) {
      inList = inList && line.startsWith("  ");
      block = undefined;
    } else if (!inList && (line !== "" || block !== undefined)) {
      if (block === undefined) blocks.push((block = []));
      block.push({ number, text: line.slice(4) });
    }
  }
  return blocks;
}

/** The commands of a block: those after `$ ` with what they print, or else each line. */
function commandsOf(page: string, block: readonly Line[]): readonly DocumentedCommand[] {
  const commands: DocumentedCommand[] = [];
  const isSession = block.some(({ text }) => text.startsWith("$ "));
  let continued = false;
  for (const { number, text } of block) {
    const last = commands.at(-1);
    const command = isSession ? text.slice(text.startsWith("$ ") ? 2 : text.length) : text;
    if (continued && last !== undefined)
      commands[commands.length - 1] = { ...last, text: `${last.text.slice(0, -1)}${text.trim()}` };
    else if (isSession ? text.startsWith("$ ") : isCommand(text))
      commands.push({ page, line: number, text: withoutRemark(command), output: "" });
    else if (isSession && last !== undefined && `${last.output}${text}` !== "")
      commands[commands.length - 1] = { ...last, output: `${last.output}${text}\n` };
    else if (text !== "") return [];
    continued = !isSession && text.endsWith("\\");
  }
  return commands;
}

/** Whether a line begins with the name of a program, after variables for it. */
function isCommand(line: string): boolean {
  return /^(?:[A-Z_]+=\S+ )*(?:[a-z][\w.-]*|(?:[\w.-]+\/)+[\w.-]+)(?: (?!=).*)?$/.test(line);
}

/** A command without what stands beside it, after some spaces. */
function withoutRemark(line: string): string {
  return line.replace(/ {3,}\S.*$/, "");
}
