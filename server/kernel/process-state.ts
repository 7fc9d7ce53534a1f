type Kept = { state: object; create: () => object; lasting: boolean };
const kept = new Map<string, Kept>();

/**
 * State of this process under a name; the first caller creates it. A module's own variable lasts as long, but `renewProcessState` finds only what is kept
 * here: whatever depends on settings, keys, the database or the clock belongs here. `lasting` state is not renewed.
 */
export function processState<T extends object>(name: string, create: () => T, { lasting = false } = {}): T {
  let found = kept.get(name);
  if (!found) {
    found = { state: create(), create, lasting };
    kept.set(name, found);
  }
  return found.state as T;
}

/**
 * Makes all state what it was when the process began, for whoever holds it too: test files with settings of their own can share a process. Timers among its
 * values, and in the entries of its maps, end: they would act on what comes after.
 */
export function renewProcessState(): void {
  for (const { state, create, lasting } of kept.values()) {
    if (lasting) continue;
    endTimers([state, ...Object.values(state)]);
    renew(state, create());
  }
}

function endTimers(values: Iterable<unknown>): void {
  for (const value of values) {
    if (isTimer(value)) clearTimeout(value);
    if (value instanceof Map) for (const entry of value.values()) endTimers(Object.values(entry ?? {}));
  }
}

const isTimer = (value: unknown): value is NodeJS.Timeout => typeof value === 'object' && value !== null && 'hasRef' in value;

function renew(state: object, fresh: object): void {
  if (state instanceof Map && fresh instanceof Map) {
    state.clear();
    for (const [key, value] of fresh) state.set(key, value);
  } else if (state instanceof Set && fresh instanceof Set) {
    state.clear();
    for (const value of fresh) state.add(value);
  } else {
    for (const name of Object.keys(state)) Reflect.deleteProperty(state, name);
    Object.assign(state, fresh);
  }
}
