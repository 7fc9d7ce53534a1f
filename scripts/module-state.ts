import { type Import, withoutComments } from './imports.ts';

// The web process loads server code several times: as plain modules (server/web.ts), and once in each layer of Next's bundle. Mutable state of a module
// would exist once per copy, so what one copy evicts or counts the others never see. Such state belongs in server/kernel/process-state.ts.

/** Files whose state may differ between copies, each with the reason. */
const COPIES_ARE_HARMLESS: Readonly<Record<string, string>> = {
  'server/api/docs/pages.ts': 'a cache of files that do not change',
  'server/api/docs/reference.ts': 'a cache of the operation table',
  'server/crypto/random.ts': 'ids of two copies differ by their random part',
  'server/kernel/ids.ts': 'ids of two copies differ by their random part',
  'server/platform/header-name.ts': 'a cache of a pure function',
  'server/platform/http-out/connector.ts': 'a cache of the system certificates',
  'server/trpc/listed-operations.ts': 'a cache of the operation table',
};

/** Modules that `entries` load at run time, directly or through others. */
export function reachableFrom(entries: readonly string[], loads: ReadonlyMap<string, readonly Import[]>): Set<string> {
  const reached = new Set(entries);
  for (const file of reached) for (const { target, own } of loads.get(file) ?? []) if (own && loads.has(target)) reached.add(target);
  return reached;
}

/** One sentence per piece of module state that copies of server code would not share, and per name that two files give to processState. */
export function unsharedState(loads: ReadonlyMap<string, readonly Import[]>, read: (file: string) => string): string[] {
  const pages = [...loads.keys()].filter((file) => file.startsWith('app/'));
  const files = [...reachableFrom(pages, loads)].filter((file) => file.startsWith('server/') && !file.startsWith('server/generated/'));
  const owners = new Map<string, string>();
  return files.flatMap((file) => {
    const code = withoutComments(read(file));
    const twice = [...code.matchAll(/\bprocessState\('([^']+)'/g)].flatMap(([, name = '']) => {
      const owner = owners.get(name);
      owners.set(name, file);
      return owner ? [`${file} and ${owner} both keep process state named ${name}`] : [];
    });
    if (file in COPIES_ARE_HARMLESS) return twice;
    const unshared = mutableState(code).map(
      (name) => `${file}: ${name} is module state that each copy of the bundle has for itself; use processState`,
    );
    return [...twice, ...unshared];
  });
}

/** Names of top-level variables that the module changes after they were made. A WeakMap is a cache of its keys and may differ. */
export function mutableState(code: string): string[] {
  const variables = [...code.matchAll(/^(?:export )?(?:let|var) (\w+)/gm)].map(([, name = '']) => name);
  const constants = [...code.matchAll(/^(?:export )?const (\w+)(?::[^=]*)? = (?:new (?:Map|Set)\b|\[|\{)/gm)].map(([, name = '']) => name);
  return [...variables, ...constants.filter((name) => isChanged(code, name))];
}

function isChanged(code: string, name: string): boolean {
  const methods = 'set|add|delete|clear|push|pop|shift|unshift|splice';
  const place = `(?<![\\w.])${name}`;
  return new RegExp(`${place}\\.(?:${methods})\\(|${place}(?:\\.\\w+|\\[[^\\]\\n]+\\])(?: (?:[-+?|&]{0,2})= |\\+\\+|--)`).test(code);
}
