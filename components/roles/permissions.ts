import type { ListedOperation } from '#server/domain/explorer/schema.ts';
import {
  type Capability,
  type Cell,
  KEY_ROLES,
  MEMBER_ROLE_ROWS,
  type MemberRole,
  ROLE_MATRIX,
  scopeOf,
} from '#server/domain/roles/catalogue.shared.ts';
import { PERMISSION_LABELS, RESOURCE_TITLES } from './permission-labels.ts';

/** `own`: only what the person created; `flag` and `verified`: with the Reveal secrets permission, and after a second factor. */
export type Grant = 'yes' | 'own' | 'flag' | 'verified' | 'names' | 'some' | 'no';
export type RoleColumn = { id: string; name: string; description: string; grants: (capability: Capability) => Grant };
/** One capability, with the summaries of the operations that need it. */
export type Action = { capability: Capability; summaries: readonly string[]; scope: string | undefined };
/** A row of the matrix: capabilities of one resource under one label, such as "View" for list and read. */
export type Permission = { label: string; actions: readonly Action[] };
export type Resource = { title: string; permissions: readonly Permission[] };

const GRANT_OF_CELL: Record<Cell, Grant> = { y: 'yes', o: 'own', t: 'flag', B: 'verified', '-': 'no' };

export const MEMBER_ROLE_COLUMNS: readonly RoleColumn[] = MEMBER_ROLE_ROWS.map(({ name, description }) => ({
  id: name.toLowerCase(),
  name,
  description,
  grants: (capability) => GRANT_OF_CELL[ROLE_MATRIX.get(capability)?.[name.toLowerCase() as MemberRole] ?? '-'],
}));

export const KEY_ROLE_COLUMNS: readonly RoleColumn[] = KEY_ROLES.map(({ id, name, description, capabilities }) => ({
  id,
  name: name.replace(/^Key - /, ''),
  description,
  grants: (capability) => (capabilities.has(capability) ? 'yes' : 'no'),
}));

/** Capabilities that no operation needs: the gateway checks them, and the log hides columns by them. */
const WITHOUT_OPERATION: Partial<Record<Capability, string>> = {
  'proxy:invoke': 'Call routes through the gateway',
  'log:read_identity': 'See the client, IP address, and key of a call',
};

/** The matrix of what this release can do, from its operation table: a capability that nothing needs yet has no row. */
export function resourcesOf(operations: readonly ListedOperation[]): readonly Resource[] {
  const summaries = new Map<Capability, string[]>(
    Object.entries(WITHOUT_OPERATION).map(([capability, text]) => [capability as Capability, [text]]),
  );
  for (const { needs, summary } of operations)
    for (const need of needs as Capability[]) summaries.set(need, [...new Set([...(summaries.get(need) ?? []), summary])]);
  const byTitle = new Map<string, Map<string, Action[]>>([...new Set(Object.values(RESOURCE_TITLES))].map((title) => [title, new Map()]));
  for (const [key, label] of Object.entries(PERMISSION_LABELS))
    for (const capability of ROLE_MATRIX.keys()) {
      const [resource, action] = capability.split(':') as [keyof typeof RESOURCE_TITLES, string];
      const own = summaries.get(capability);
      if (action !== key || !own) continue;
      const rows = byTitle.get(RESOURCE_TITLES[resource]);
      rows?.set(label, [...(rows.get(label) ?? []), { capability, summaries: own, scope: scopeOf(capability) }]);
    }
  return [...byTitle]
    .filter(([, rows]) => rows.size > 0)
    .map(([title, rows]) => ({
      title,
      permissions: [...rows].map(([label, actions]) => ({ label: labelOf(label, actions), actions })),
    }));
}

/** "Edit" where nothing can be created, "Create" where nothing can be edited. */
function labelOf(label: string, actions: readonly Action[]): string {
  const has = (action: string) => actions.some(({ capability }) => capability.endsWith(`:${action}`));
  if (label !== PERMISSION_LABELS.create || (has('create') && has('update'))) return label;
  return has('create') ? 'Create' : 'Edit';
}

/** What a role holds of a row. */
export function grantOf({ actions }: Permission, grants: RoleColumn['grants']): Grant {
  const each = actions.map(({ capability }) => grants(capability));
  const [first = 'no'] = each;
  if (each.every((grant) => grant === first)) return first;
  const held = actions.filter((_, index) => each[index] !== 'no');
  return held.every(({ capability }) => capability.endsWith(':list')) ? 'names' : 'some';
}
