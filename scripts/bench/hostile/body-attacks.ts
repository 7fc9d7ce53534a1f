import { HOSTILE_BODIES } from '../../../server/gateway/templates/hostile-bodies.fixture.ts';
import type { Attack } from './attacks.ts';
import type { Workspaces } from './workspaces.ts';

const LARGEST = 10 * 1024 * 1024 - 1024;

/** Bodies of the largest size for routes that read them. */
const attack = (
  name: string,
  config: Record<string, unknown>,
  actions: readonly Record<string, unknown>[],
  shapes: readonly string[],
): Attack => ({
  name: `bodies of 10 MiB, ${name}`,
  prepare: async ({ make, ports, routeHeaders, upstream }: Workspaces) => {
    const slug = `bodies-${name.replaceAll(' ', '-')}`;
    const { id } = await make('routes.create', { name: slug, slug, target_base_url: upstream, ...config });
    for (const action of actions) await make('routes.actions.create', { id, direction: 'request', ...action });
    const bodies = shapes.map((shape) => {
      const body = HOSTILE_BODIES[shape];
      if (!body) throw new Error(`There is no hostile body ${shape}.`);
      return { type: body.type, body: Buffer.from(body.text(LARGEST)) };
    });
    return (n) => {
      const { type, body } = bodies[n % bodies.length] as (typeof bodies)[number];
      return { url: `http://127.0.0.1:${ports.proxy}/${slug}`, headers: { ...routeHeaders, 'Content-Type': type }, body };
    };
  },
});

export const bodyAttacks: readonly Attack[] = [
  attack(
    'added to',
    { inject_body_json: { added: true } },
    [],
    ['numbers', 'objects', 'escapes', 'one field of pluses', 'a name of pluses'],
  ),
  attack(
    'with placeholders',
    { inject_body_json: { added: true } },
    [],
    ['a string of braces', 'variables of no call', 'one field of escapes'],
  ),
  attack(
    'with field actions',
    {},
    [{ action: 'mask', mask: 'full', selectors: ['$..ssn', '$..a.b.c'] }],
    ['objects', 'objects of escaped names', 'words'],
  ),
];
