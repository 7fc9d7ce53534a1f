import { capital } from '#components/ui/capital.ts';
import type { ListedOperation } from '#server/domain/explorer/schema.ts';
import {
  type Capability,
  KEY_ROLES,
  MEMBER_ROLE_ROWS,
  type MemberRole,
  ROLE_MATRIX,
  rolesWith,
  scopeOf,
} from '#server/domain/roles/catalogue.shared.ts';

/** `own`: only what the person made themselves. */
export type Grant = 'yes' | 'own' | 'no';
/** A role of people or of keys, with what of a capability it gives. */
export type RoleRow = { id: string; name: string; description: string; grants: (capability: Capability) => Grant };
/** One capability as people read it: what can be done with it, in the words of the operations that need it. */
export type Act = { capability: Capability; words: readonly string[]; scope: string | undefined };
export type Family = { title: string; acts: readonly Act[] };

export const MEMBER_ROLE_LIST: readonly RoleRow[] = MEMBER_ROLE_ROWS.map(({ name, description }) => ({
  id: name.toLowerCase(),
  name,
  description,
  grants: (capability) => {
    const cell = ROLE_MATRIX.get(capability)?.[name.toLowerCase() as MemberRole];
    return cell === 'y' ? 'yes' : cell === 'o' ? 'own' : 'no';
  },
}));

export const KEY_ROLE_LIST: readonly RoleRow[] = KEY_ROLES.map(({ id, name, description, capabilities }) => ({
  id,
  name: name.replace(/^Key - /, ''),
  description,
  grants: (capability) => (capabilities.has(capability) ? 'yes' : 'no'),
}));

/** Capabilities that no operation of the table needs, since they act on calls through the gateway and on what a line of the log shows. */
const ELSEWHERE: Partial<Record<Capability, string>> = {
  'proxy:invoke': 'Call routes through the gateway',
  'log:read_identity': 'See who made a call: client, address and key',
};
const TITLES: Record<string, string> = {
  account: 'Workspace',
  api_key: 'API keys',
  audit_log: 'Audit log',
  kms: 'Key management',
  log: 'Request log',
  proxy: 'Calls',
};

/** What can be done in this release, family by family: capabilities that nothing here needs are not told. */
export function familiesOf(operations: readonly ListedOperation[]): readonly Family[] {
  const words = new Map<Capability, string[]>(Object.entries(ELSEWHERE).map(([capability, text]) => [capability as Capability, [text]]));
  for (const { needs, summary } of operations)
    for (const need of needs as Capability[]) words.set(need, [...new Set([...(words.get(need) ?? []), summary])]);
  const families = new Map<string, Act[]>();
  for (const capability of ROLE_MATRIX.keys()) {
    const own = words.get(capability);
    if (!own) continue;
    const [resource = ''] = capability.split(':');
    families.set(resource, [...(families.get(resource) ?? []), { capability, words: own, scope: scopeOf(capability) }]);
  }
  return [...families].map(([resource, acts]) => ({ title: titleOf(resource), acts })).sort((a, b) => a.title.localeCompare(b.title));
}

const titleOf = (resource: string) => TITLES[resource] ?? `${capital(resource)}s`.replaceAll('_', ' ');

/** Who could do what this role may not: the other rows of its list. */
export const whoMay = (capability: Capability, list: readonly RoleRow[]): readonly string[] =>
  list === MEMBER_ROLE_LIST
    ? rolesWith(capability).map(capital)
    : list.filter((row) => row.grants(capability) !== 'no').map(({ name }) => name);
