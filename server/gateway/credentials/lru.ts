export type Lru<Value> = {
  get(key: string): Value | undefined;
  set(key: string, value: Value): void;
  delete(key: string): void;
  clear(): void;
  readonly size: number;
};

/** A map that keeps the `max` most recently used values; `onEvict` hears of each value it drops for room. */
export function lru<Value>(max: number, onEvict?: (key: string, value: Value) => void): Lru<Value> {
  // A Map iterates in insertion order, so the first key is the least recently used.
  const values = new Map<string, Value>();
  return {
    get(key) {
      const value = values.get(key);
      if (value === undefined) return undefined;
      values.delete(key);
      values.set(key, value);
      return value;
    },
    set(key, value) {
      values.delete(key);
      values.set(key, value);
      if (values.size <= max) return;
      const [oldest] = values as unknown as Iterable<[string, Value]>;
      if (!oldest) return;
      values.delete(oldest[0]);
      onEvict?.(...oldest);
    },
    delete: (key) => void values.delete(key),
    clear: () => values.clear(),
    get size() {
      return values.size;
    },
  };
}
