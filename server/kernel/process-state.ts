/**
 * State that exists once per process, on globalThis under a name; the first caller creates it. Every process loads each module of `server/` once
 * (`scripts/server-loader.mjs`), so a variable of the module does as well: new code needs no more than that.
 */
export function processState<T extends object>(name: string, create: () => T): T {
  const shared = globalThis as { [name: symbol]: T | undefined };
  const key = Symbol.for(`sallyport.${name}`);
  shared[key] ??= create();
  return shared[key];
}
