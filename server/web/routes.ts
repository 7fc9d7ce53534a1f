import fs from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

type Params = Readonly<Record<string, string>>;
type Handler = (req: Request, context: { params: Promise<Params> }) => Response | Promise<Response>;
type Handlers = Readonly<Record<string, Handler>>;
/** A file of `app/` that answers a path. Without `handlers` it is a page, which only Next can answer. */
type Mounted = { pattern: RegExp; order: string; handlers?: Handlers };

export type Route = { handlers: Handlers; params: Params };

/**
 * Loads every `route.ts` below `folder` and finds the one for a path by the rules of Next's router, so that the API planes answer without Next.
 * Returns undefined for a path that belongs to a page, to no file, or can't be decoded.
 */
export async function loadRoutes(folder: string): Promise<(pathname: string) => Route | undefined> {
  const byFirstSegment = new Map<string, Mounted[]>();
  // Not by a glob, which passes over folders such as .well-known.
  const files = fs.readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((file) => path.join(folder, file));
  for (const file of files.filter((one) => /^(route\.ts|page\.tsx)$/.test(path.basename(one)))) {
    const segments = segmentsOf(path.relative(folder, path.dirname(file)));
    const first = segments[0] ?? '';
    byFirstSegment.set(first, [...(byFirstSegment.get(first) ?? []), { ...matcherOf(segments), ...(await handlersOf(file)) }]);
  }
  for (const mounted of byFirstSegment.values()) mounted.sort((a, b) => (a.order < b.order ? -1 : 1));
  return (pathname) => {
    const candidates = byFirstSegment.get(pathname.split('/', 2)[1] ?? '');
    for (const { pattern, handlers } of candidates ?? []) {
      const match = pattern.exec(pathname);
      if (match) return handlers && withParams(handlers, match.groups ?? {});
    }
    return undefined;
  };
}

/** Folders in parentheses group files and aren't part of the path. */
const segmentsOf = (folder: string): string[] => folder.split(path.sep).filter((segment) => segment !== '' && !segment.startsWith('('));

/** Orders a literal segment before a parameter, `[one]`, before the rest of the path, `[...rest]`, before an optional rest, `[[...rest]]`. */
function matcherOf(segments: readonly string[]): Pick<Mounted, 'pattern' | 'order'> {
  const parts = segments.map((segment) => {
    const [, optional, rest, name] = /^\[(\[?)(\.{3})?(\w+)\]\]?$/.exec(segment) ?? [];
    if (name === undefined) return { order: '0', source: `/${RegExp.escape(segment)}` };
    if (optional) return { order: '3', source: `(?:/(?<${name}>.+))?` };
    return rest ? { order: '2', source: `/(?<${name}>.+)` } : { order: '1', source: `/(?<${name}>[^/]+)` };
  });
  return { order: parts.map(({ order }) => order).join(''), pattern: new RegExp(`^${parts.map(({ source }) => source).join('')}$`) };
}

async function handlersOf(file: string): Promise<Pick<Mounted, 'handlers'>> {
  if (!file.endsWith('route.ts')) return {};
  return { handlers: (await import(pathToFileURL(path.resolve(file)).href)) as Handlers };
}

function withParams(handlers: Handlers, found: Readonly<Record<string, string | undefined>>): Route | undefined {
  try {
    const params = Object.entries(found).map(([name, value]) => [name, decodeURIComponent(value ?? '')]);
    return { handlers, params: Object.fromEntries(params) as Params };
  } catch {
    return undefined;
  }
}
