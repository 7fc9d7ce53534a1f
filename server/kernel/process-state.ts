/**
 * State that exists once per process. The web process loads this code several times: as plain modules, and in each layer of Next's bundle. A variable
 * of a module exists once per copy, so a keyring evicted in one copy lives on in another, and a limit applies to each copy by itself. State kept here
 * lives on globalThis under a name that all copies share; the first caller creates it. `scripts/module-state.ts` refuses any other module state that
 * pages can reach.
 */
export function processState<T extends object>(name: string, create: () => T): T {
  const shared = globalThis as { [name: symbol]: T | undefined };
  const key = Symbol.for(`sallyport.${name}`);
  shared[key] ??= create();
  return shared[key];
}
