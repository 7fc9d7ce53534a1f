import { PERMISSION_LABELS, RESOURCE_TITLES } from '#components/roles/permission-labels.ts';
import { capitalize } from '#components/ui/capitalize.ts';
import { counted } from '#components/ui/numbers.ts';
import { KEY_ROLES, ROLE_MATRIX } from '#server/domain/roles/catalogue.shared.ts';

/** What a sentence about a policy needs of it. */
export type PolicySaid = {
  actions: readonly string[];
  subjects: {
    all?: boolean | undefined;
    roles?: readonly string[] | undefined;
    user_ids?: readonly string[] | undefined;
    api_key_ids?: readonly string[] | undefined;
    oauth_client_ids?: readonly string[] | undefined;
  };
  resources?: readonly string[] | null | undefined;
  space: 'live' | 'test' | 'both';
};

type Named = (id: string) => string | undefined;
const list = new Intl.ListFormat('en', { type: 'conjunction' });

/** `Secrets: reveal` of `secret:reveal`; `Secrets: everything` of `secret:*`. */
export function actionLabel(action: string): string {
  const [resource = '', verb = ''] = action.split(':') as [keyof typeof RESOURCE_TITLES, string];
  const title = RESOURCE_TITLES[resource as keyof typeof RESOURCE_TITLES] ?? resource;
  const label = verb === '*' ? 'everything' : (PERMISSION_LABELS[verb as keyof typeof PERMISSION_LABELS] ?? verb).toLowerCase();
  return `${title}: ${label}`;
}

/** All actions a policy can name, whole resources first within each. */
export const ACTION_OPTIONS: readonly { value: string; label: string; detail: string }[] = [
  ...Map.groupBy(ROLE_MATRIX.keys(), (capability) => capability.slice(0, capability.indexOf(':'))),
].flatMap(([resource, capabilities]) =>
  [`${resource}:*`, ...capabilities].map((value) => ({ value, label: actionLabel(value), detail: value })),
);

export const roleLabel = (role: string): string => {
  const ofKeys = KEY_ROLES.find(({ id }) => id === role);
  return ofKeys ? `${ofKeys.name.replace(/^Key - /, '')} keys` : `${capitalize(role)}s`;
};

/** "Editors and the key build" */
export function subjectsInWords(
  { all, roles = [], user_ids = [], api_key_ids = [], oauth_client_ids = [] }: PolicySaid['subjects'],
  named: Named,
): string {
  if (all) return 'Everybody';
  const few = (ids: readonly string[], noun: string) =>
    ids.length > 3 ? [counted(ids.length, noun)] : ids.map((id) => named(id) ?? `a removed ${noun}`);
  const parts = [
    ...roles.map(roleLabel),
    ...few(user_ids, 'person'),
    ...few(api_key_ids, 'API key'),
    ...few(oauth_client_ids, 'OAuth client'),
  ];
  return parts.length > 0 ? list.format(parts) : 'Whoever you choose';
}

/** "Editors can't: Secrets: reveal. Only prod-*. In Live." as one sentence. */
export function policyInWords(policy: PolicySaid, named: Named): string {
  const what =
    policy.actions.length > 4
      ? [...policy.actions.slice(0, 3).map(actionLabel), `${policy.actions.length - 3} more`]
      : policy.actions.map(actionLabel);
  const where = policy.space === 'both' ? 'in Live and Test' : policy.space === 'live' ? 'in Live' : 'in Test';
  const which =
    policy.resources && policy.resources.length > 0
      ? ` on ${list.format(policy.resources.slice(0, 3))}${policy.resources.length > 3 ? ' and more' : ''}`
      : '';
  const who = policy.subjects.all ? 'Nobody can' : `${subjectsInWords(policy.subjects, named)} can’t`;
  return `${who} use ${what.length > 0 ? list.format(what) : 'what you choose'}${which}, ${where}.`;
}

export type Template = { id: string; title: string; description: string; values: PolicySaid & { name: string; reason: string } };

/** Where people begin. */
export const TEMPLATES: readonly Template[] = [
  {
    id: 'payloads',
    title: 'Nobody reads payloads',
    description: 'Stored request and response bodies stay sealed, for Owners too.',
    values: {
      name: 'No payloads',
      actions: ['log:read_payload'],
      subjects: { all: true },
      space: 'both',
      reason: 'Payloads can hold personal data.',
    },
  },
  {
    id: 'values',
    title: 'Nobody reveals secret values in Live',
    description: 'Values are still injected into calls.',
    values: {
      name: 'No Live secret values',
      actions: ['secret:reveal'],
      subjects: { all: true },
      space: 'live',
      reason: 'Live values never leave the gateway.',
    },
  },
  {
    id: 'freeze',
    title: 'Freeze production routes',
    description: 'Routes called prod-* can’t be changed or deleted by Editors.',
    values: {
      name: 'Production freeze',
      actions: ['route:delete', 'route:update'],
      subjects: { roles: ['editor'] },
      resources: ['prod-*'],
      space: 'live',
      reason: 'Changes to production go through an Admin.',
    },
  },
  {
    id: 'keys',
    title: 'Keys can’t manage secrets in Live',
    description: 'Editor and Infrastructure keys keep calling routes.',
    values: {
      name: 'No secrets by key',
      actions: ['secret:create', 'secret:delete', 'secret:update'],
      subjects: { roles: KEY_ROLES.filter(({ name }) => /Editor|Infrastructure/.test(name)).map(({ id }) => id) },
      space: 'live',
      reason: 'People change Live secrets, not pipelines.',
    },
  },
];
