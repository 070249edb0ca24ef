// Bounds a Map or Set: the oldest entry goes first.

export function evictOldest<K>(
  entries: { readonly size: number; keys(): Iterable<K>; delete(key: K): unknown },
  max: number,
): void {
  if (entries.size <= max) return;
  for (const oldest of entries.keys()) return void entries.delete(oldest);
}
