// Many tasks, a few at a time.

/** Calls `run` for each item, at most `width` at once, until all are done or the signal aborts. `run` must not throw. */
export async function eachOf<T>(
  items: readonly T[],
  width: number,
  signal: AbortSignal,
  run: (item: T) => Promise<void>,
): Promise<void> {
  const waiting = [...items];
  const worker = async () => {
    for (let item = waiting.shift(); item !== undefined && !signal.aborted; item = waiting.shift()) await run(item);
  };
  await Promise.all(Array.from({ length: width }, worker));
}
