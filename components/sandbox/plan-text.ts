import type { inferRouterOutputs } from '@trpc/server';
import { labelOf as settingLabel } from '#components/routes/setting-labels.ts';
import { nounOf, pluralOf, promotedTypes } from '#components/shell/resources.ts';
import { capitalize } from '#components/ui/capitalize.ts';
import { counted, grouped } from '#components/ui/numbers.ts';
import type { AppRouter } from '#server/trpc/root.ts';

export type Plan = Omit<inferRouterOutputs<AppRouter>['sandbox']['promote'], 'warnings'>;
export type Item = Plan['items'][number];
export type Space = Plan['to'];

/** The name of a space. */
export const spaceWord = (space: Space): string => (space === 'live' ? 'Live' : 'Test');

/** The types that can be promoted and copied. */
export const TYPES = promotedTypes as readonly Item['type'][];

/** "3 routes", "1 secret". */
export const countedKind = (n: number, type: Item['type']): string => counted(n, nounOf(type), pluralOf(type));

/** Where in the flow a line stands: picking, looking at the plan, or done. */
export type Stage = 'pick' | 'plan' | 'done';
type Said = { state: 'ok' | 'pending' | 'off' | 'failing'; text: string };
const ACTIONS: Record<Stage, Record<Item['action'], Said>> = {
  pick: {
    create: { state: 'off', text: 'New' },
    update: { state: 'pending', text: 'Differs' },
    skip: { state: 'ok', text: 'Unchanged' },
    conflict: { state: 'failing', text: 'Conflict' },
  },
  plan: {
    create: { state: 'pending', text: 'Create' },
    update: { state: 'pending', text: 'Update' },
    skip: { state: 'off', text: 'No change' },
    conflict: { state: 'failing', text: 'Can’t move' },
  },
  done: {
    create: { state: 'ok', text: 'Created' },
    update: { state: 'ok', text: 'Updated' },
    skip: { state: 'off', text: 'No change' },
    conflict: { state: 'failing', text: 'Not moved' },
  },
};

/** One that differs and is held back, until calls that are served there would not fail of it. */
export const isHeldBack = (item: Item): boolean => item.action === 'skip' && item.changes.length > 0;
export const stateOf = (item: Item, stage: Stage): Said =>
  isHeldBack(item) ? { state: 'pending', text: 'Waiting' } : ACTIONS[stage][item.action];

/** What to know about one line of a plan, in a sentence; the changes have a table of their own. */
export function noteOf(item: Item, plan: Pick<Plan, 'to'>, stage: Stage = 'plan'): string {
  const parts = [
    item.reason,
    item.action === 'create' && item.enabled === true ? `On in ${spaceWord(plan.to)} immediately.` : null,
    item.action === 'update'
      ? `${counted(item.changes.length, 'setting differs', 'settings differ')}${stage === 'plan' ? ', listed below' : ''}.`
      : null,
    stage === 'plan' && item.type === 'secret' && item.action === 'create' ? 'Copied without its value.' : null,
    !item.picked && item.action === 'create' ? 'Included because a selected item needs it.' : null,
    item.left_behind.length > 0 ? `Not copied: ${item.left_behind.join(', ')}.` : null,
  ];
  return parts.filter(Boolean).join(' ');
}

const FIELDS: Record<string, string> = {
  environment: 'Environment',
  base_environment: 'Base environment',
  collection: 'Collection',
  clients: 'Added client assignments',
  default_clients: 'Added default clients',
  expected_environments: 'Expected environments',
  ip_address: 'IP address',
  ip_notes: 'IP address notes',
  allowed_hosts: 'Allowed hosts',
  rotate_every_days: 'Rotate every (days)',
  strict_expiry_enforcement: 'Strict expiry',
};

/** A changed field as people say it, with the environments it belongs to. */
export function fieldOf({ field, environment, also_in = [] }: Item['changes'][number]): string {
  const label = FIELDS[field] ?? settingLabel(field);
  const text = capitalize(label);
  if (!environment) return text;
  const places = [environment, ...also_in];
  return `${text} (${list.format(places.length > NAMED ? [...places.slice(0, NAMED - 1), `${grouped(places.length - NAMED + 1)} more`] : places)})`;
}
const NAMED = 4;
const list = new Intl.ListFormat('en');
