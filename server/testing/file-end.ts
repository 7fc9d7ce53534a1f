import { mock } from 'node:test';
import { processState, renewProcessState } from '#server/kernel/process-state.ts';

// Test files run one after the other in processes that have loaded the service once (scripts/test-worker.ts). What a file opens ends with it, and the next
// one finds the process as if it were new.

const ends: (() => unknown)[] = [];
const descriptorsOf = (of: object): PropertyDescriptorMap => Object.getOwnPropertyDescriptors(of);
const found = { env: { ...process.env }, globals: descriptorsOf(globalThis) };

/** Ends something when all tests of the file are over; what came last ends first. */
export function onFileEnd(end: () => unknown): void {
  ends.push(end);
}

/** Makes something once for the tests of a file, when the first of them needs it. */
export function oncePerFile<T>(make: () => T): () => T {
  let made: { value: T } | undefined;
  return () => {
    if (!made) {
      onFileEnd(() => {
        made = undefined;
      });
      made = { value: make() };
    }
    return made.value;
  };
}

/** Has the settings read anew. */
export function rereadSettings(): void {
  for (const state of [processState('env', () => ({})), processState('egress', () => ({}))])
    for (const name of Object.keys(state)) Reflect.deleteProperty(state, name);
}

/** Ends what the file opened and makes the process what it was before it. Every end is tried. @throws the first that failed */
export async function endFile(): Promise<void> {
  const failures: unknown[] = [];
  for (const end of ends.splice(0).reverse()) await Promise.try(end).catch((error: unknown) => failures.push(error));
  mock.reset();
  mock.timers.reset();
  renewProcessState();
  for (const name of Object.keys(process.env)) if (!(name in found.env)) delete process.env[name];
  Object.assign(process.env, found.env);
  restoreGlobals();
  if (failures.length > 0) throw failures[0];
}

/** By these, libraries tell a page from a server. What libraries themselves add when they are loaded stays: they are loaded once. */
const OF_PAGES = ['window', 'document', 'self', 'location', 'localStorage', 'sessionStorage'];

function restoreGlobals(): void {
  const now = descriptorsOf(globalThis);
  for (const name of OF_PAGES) if (!(name in found.globals)) Reflect.deleteProperty(globalThis, name);
  for (const [name, was] of Object.entries(found.globals))
    if (now[name]?.value !== was.value || now[name]?.get !== was.get) Object.defineProperty(globalThis, name, was);
}
