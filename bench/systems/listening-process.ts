import { readdirSync, readFileSync, readlinkSync } from "node:fs";

/** The process on this machine that listens on a port; undefined if there is none that may be seen. Linux alone. */
export function listeningProcess(port: number): number | undefined {
  const sockets = new Set(listeningSockets(port).map((inode) => `socket:[${inode}]`));
  const processes =
    sockets.size === 0 ? [] : readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  const found = processes.find((id) => descriptorsOf(id).some((target) => sockets.has(target)));
  return found === undefined ? undefined : Number(found);
}

/** The inodes of the sockets that listen on a port. */
function listeningSockets(port: number): string[] {
  const place = `:${port.toString(16).toUpperCase().padStart(4, "0")}`;
  return ["/proc/net/tcp", "/proc/net/tcp6"].flatMap((file) =>
    linesOf(file).flatMap((line) => {
      const [, local = "", , state, , , , , , inode = ""] = line.trim().split(/\s+/);
      return local.endsWith(place) && state === listening ? [inode] : [];
    }),
  );
}

function linesOf(file: string): string[] {
  try {
    return readFileSync(file, "utf8").split("\n").slice(1);
  } catch {
    return [];
  }
}

/** What the descriptors of a process point to; none for a process that has ended, or is another user's. */
function descriptorsOf(processId: string): string[] {
  const folder = `/proc/${processId}/fd`;
  try {
    return readdirSync(folder).flatMap((descriptor) => {
      try {
        return [readlinkSync(`${folder}/${descriptor}`)];
      } catch {
        return [];
      }
    });
  } catch {
    return [];
  }
}

/** As the kernel writes `TCP_LISTEN`. */
const listening = "0A";
