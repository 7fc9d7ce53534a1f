/** What was made of something long, by a key: the least recently used go when it is too much or too many, and each some time after it was kept. */
export type Kept<T> = {
  get: (key: string) => T | undefined;
  /** Keeps the value, of such a size, and returns it. */
  set: (key: string, value: T, size: number) => T;
  delete: (key: string) => void;
};

/** Without `mostMs` nothing goes by its age. */
export function kept<T>(mostSize: number, mostEntries: number, mostMs?: number): Kept<T> {
  const entries = new Map<string, { value: T; size: number; timer: NodeJS.Timeout | undefined }>();
  let total = 0;
  const remove = (key: string): void => {
    const entry = entries.get(key);
    clearTimeout(entry?.timer);
    total -= entry?.size ?? 0;
    entries.delete(key);
  };
  return {
    get(key) {
      const entry = entries.get(key);
      if (!entry) return undefined;
      entries.delete(key);
      entries.set(key, entry);
      return entry.value;
    },
    set(key, value, size) {
      remove(key);
      entries.set(key, { value, size, timer: mostMs === undefined ? undefined : setTimeout(remove, mostMs, key).unref() });
      total += size;
      // The newest stays, whatever its size: it is in use.
      while ((total > mostSize || entries.size > mostEntries) && entries.size > 1) remove(entries.keys().next().value as string);
      return value;
    },
    delete: remove,
  };
}
