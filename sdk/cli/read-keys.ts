// Importers drop nothing in silence: which members of a file they read is noted, and the others are reported.

/** A file as an importer reads it, and what of it the importer never looked at. */
export type ReadKeys = {
  /** The same document; reading it is noted. */
  value: unknown;
  /** Counts everything below a value of this document as read: the importer has said what becomes of it. */
  settle: (value: unknown) => void;
  /** Paths such as `model_list[].litellm_params.seed`, once each, without what is below them. Never values, which may be secrets. */
  unread: () => string[];
};

/** Notes which members of a parsed document are read. A member that is an object is read when its own members are; an empty one needs no reading. */
export function readKeys(document: unknown): ReadKeys {
  const read = new Map<object, Set<string>>();
  const settled = new Set<object>();
  const originals = new WeakMap<object, object>();
  const proxies = new Map<object, object>();
  const watched = (value: unknown): unknown => {
    if (typeof value !== 'object' || value === null) return value;
    const known = proxies.get(value);
    if (known) return known;
    const keys = new Set<string>();
    const proxy = new Proxy(value, {
      get(target, key, receiver) {
        if (typeof key === 'string' && Object.hasOwn(target, key)) keys.add(key);
        return watched(Reflect.get(target, key, receiver));
      },
    });
    read.set(value, keys);
    proxies.set(value, proxy);
    originals.set(proxy, value);
    return proxy;
  };
  const paths = new Set<string>();
  const walk = (value: unknown, path: string): void => {
    if (typeof value !== 'object' || value === null || settled.has(value)) return;
    const keys = read.get(value);
    for (const [key, member] of Object.entries(value)) {
      const at = Array.isArray(value) ? `${path}[]` : path === '' ? key : `${path}.${key}`;
      if (keys?.has(key)) walk(member, at);
      else paths.add(at);
    }
  };
  return {
    value: watched(document),
    settle(value) {
      const original = typeof value === 'object' && value !== null ? originals.get(value) : undefined;
      if (original) settled.add(original);
    },
    unread() {
      walk(document, '');
      return [...paths];
    },
  };
}
