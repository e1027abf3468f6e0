import { useEffect, useRef } from "preact/hooks";

/** Does something now and every so many ms, while the page is visible: a page in the background asks nothing. */
export function usePolling(work: () => Promise<void>, everyMs: number): void {
  const latest = useRef(work);
  latest.current = work;
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    let isOver = false;
    const run = async () => {
      clearTimeout(timer);
      if (isOver || document.hidden) return;
      await latest.current();
      clearTimeout(timer);
      if (!isOver) timer = setTimeout(() => void run(), everyMs);
    };
    const visible = () => void run();
    document.addEventListener("visibilitychange", visible);
    void run();
    return () => {
      isOver = true;
      clearTimeout(timer);
      document.removeEventListener("visibilitychange", visible);
    };
  }, [everyMs]);
}
