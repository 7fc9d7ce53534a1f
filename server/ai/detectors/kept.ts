/** What was made of something long, by a key of its content: the least recently used go when it is too much or too many. */
export type Kept<T> = {
  get: (key: string) => T | undefined;
  /** Keeps the value, of such a size, and returns it. */
  set: (key: string, value: T, size: number) => T;
  delete: (key: string) => void;
};

export function kept<T>(mostSize: number, mostEntries: number): Kept<T> {
  const entries = new Map<string, { value: T; size: number }>();
  let total = 0;
  const remove = (key: string): void => {
    total -= entries.get(key)?.size ?? 0;
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
      entries.set(key, { value, size });
      total += size;
      // The newest stays, whatever its size: it is in use.
      while ((total > mostSize || entries.size > mostEntries) && entries.size > 1) remove(entries.keys().next().value as string);
      return value;
    },
    delete: remove,
  };
}
