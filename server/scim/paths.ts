import { DOCUMENTS } from './discovery.ts';
import { notFound, ScimProblem } from './problem.ts';
import type { ScimResource } from './resource.ts';
import { RESOURCES } from './resources.ts';

const PREFIX = '/scim/v2';

export type Verb = 'list' | 'get' | 'create' | 'replace' | 'patch' | 'remove';

/** What a call asks for. */
export type Target =
  | { kind: 'document'; name: (typeof DOCUMENTS)[number]; id: string | null }
  | { kind: 'resource'; resource: ScimResource; verb: Verb; id: string };

const ON_LIST: Readonly<Record<string, Verb>> = { GET: 'list', POST: 'create' };
const ON_ONE: Readonly<Record<string, Verb>> = { GET: 'get', PUT: 'replace', PATCH: 'patch', DELETE: 'remove' };

/** The endpoint of a path and method. @throws ScimProblem 404, 405 */
export function targetOf(method: string, pathname: string): Target {
  const [, name = '', id = null, ...rest] = pathname.slice(PREFIX.length).split('/');
  if (!pathname.startsWith(`${PREFIX}/`) || rest.length > 0 || id === '') throw notFound();
  const document = DOCUMENTS.find((one) => one === name);
  if (document && (id === null || document !== 'ServiceProviderConfig')) {
    if (method !== 'GET') throw methodNotAllowed(['GET']);
    return { kind: 'document', name: document, id: id === null ? null : decoded(id) };
  }
  const resource = RESOURCES.find(({ type }) => type.endpoint === `/${name}`);
  if (!resource) throw notFound();
  const verbs = id === null ? ON_LIST : ON_ONE;
  const verb = verbs[method];
  if (!verb) throw methodNotAllowed(Object.keys(verbs));
  return { kind: 'resource', resource, verb, id: id === null ? '' : decoded(id) };
}

const methodNotAllowed = (allow: readonly string[]) =>
  new ScimProblem(405, `Method not allowed. This path supports ${allow.join(', ')}.`, { headers: { allow: allow.join(', ') } });

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    throw notFound();
  }
}
