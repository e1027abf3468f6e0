/** The paths that a glob of wrangler's file means: `**` is any folders, `*` anything within a name. */
export function globPattern(glob: string): RegExp {
  const parts = glob.split(/(\*\*\/|\*\*|\*)/).map((part) => {
    if (part === "**/") return "(?:.*/)?";
    if (part === "**") return ".*";
    if (part === "*") return "[^/]*";
    return part.replaceAll(/[.+^${}()|[\]\\?]/g, "\\$&");
  });
  return new RegExp(`^${parts.join("")}$`);
}
