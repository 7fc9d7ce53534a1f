export type Intercepting = {
  id: string;
  slug: string | null;
  /** The route, and its environment. */
  enabled: boolean;
  target: string;
  requiresClients: boolean;
};
export type Listed = { route_id: string; slug: string; host: string; base_path: string };
export type Note = { tone: 'warn' | 'info'; title: string; text: string };

/** What to know before SDKs send calls through a route: why none would arrive, and what they run into. `listed` is the manifest of the environment. */
export function interceptionNotes(route: Intercepting, listed: readonly Listed[]): Note[] {
  const ineligible = ineligibleFor(route);
  if (ineligible) return [{ tone: 'warn', title: 'SDKs can’t use this route', text: ineligible }];
  const notes: Note[] = [];
  if (route.requiresClients)
    notes.push({
      tone: 'warn',
      title: 'Calls without a registered client are refused',
      text: 'SDKs send their API key alone. Assign their addresses as clients, or stop requiring clients.',
    });
  if (route.target.includes('{{'))
    notes.push({
      tone: 'info',
      title: 'The host comes from a variable',
      text: 'SDKs see the variable’s value. A variable that holds a secret keeps the route out of their list.',
    });
  const place = placeOf(route.target);
  const twins = place ? listed.filter((one) => one.route_id !== route.id && one.host === place.host && one.base_path === place.path) : [];
  const [first] = [...twins.map(({ slug }) => slug), route.slug ?? ''].sort();
  if (twins.length > 0)
    notes.push({
      tone: 'warn',
      title: 'Another route covers the same host and path',
      text: `SDKs take the lowest slug of ${[...twins.map(({ slug }) => slug), route.slug ?? ''].sort().join(', ')}: ${first ?? ''}.`,
    });
  return notes;
}

function ineligibleFor({ slug, enabled, target }: Intercepting): string | undefined {
  if (slug === null) return 'It has no slug. Set one in Settings.';
  if (!enabled) return 'It is paused, or doesn’t serve this environment now.';
  if (/\{\{\s*secret/i.test(target)) return 'Its upstream URL holds a secret, which the list for SDKs never contains.';
  if (target.includes('{{')) return undefined;
  const url = parsed(target);
  if (!url) return undefined;
  if (url.port !== '') return 'Its upstream is on a port of its own. SDKs match hosts on the default port.';
  if (/^\[|^\d+(?:\.\d+){3}$/.test(url.hostname)) return 'Its upstream is an IP address. SDKs match host names.';
  return undefined;
}

function placeOf(target: string): { host: string; path: string } | undefined {
  const url = target.includes('{{') ? undefined : parsed(target);
  return url && { host: url.hostname.replace(/\.$/, ''), path: url.pathname.replace(/\/$/, '') || '/' };
}

const parsed = (text: string): URL | undefined => (URL.canParse(text) ? new URL(text) : undefined);
