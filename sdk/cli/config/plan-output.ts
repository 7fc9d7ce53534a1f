import { jsonOf } from '../output.ts';
import { plain, type Terminal } from '../terminal.ts';
import { oneOf } from './document.ts';
import { type Change, mapLeaves } from './kind.ts';
import { isLiteralCredential } from './literals.ts';
import { type Plan, pending, type Step } from './plan.ts';

const MARKS = { create: '+', update: '~', delete: '-' } as const;

/** The plan for a reader: what is made, changed and deleted, member by member. */
export function printPlan(plan: Plan, { json, workspace }: { json: boolean; workspace: string }, terminal: Terminal): void {
  const steps = pending(plan);
  if (json) {
    terminal.print(jsonOf({ workspace, ...counts(plan), steps: steps.map(summary), notes: plan.notes }, 2));
    return;
  }
  const { green, yellow, red, dim } = terminal.style;
  const colours = { create: green, update: yellow, delete: red };
  for (const step of steps) {
    if (step.action === 'unchanged') continue;
    terminal.print(colours[step.action](`${MARKS[step.action]} ${step.action} ${oneOf(step.kind)} ${plain(step.name)}`));
    for (const { field, from, to } of step.action === 'delete' ? [] : step.changes) {
      const change = step.action === 'create' ? shown(field, to) : `${shown(field, from)} → ${shown(field, to)}`;
      terminal.print(`    ${plain(field)}: ${change}`);
    }
  }
  for (const note of plan.notes) terminal.error(`${yellow('Note:')} ${plain(note)}`);
  terminal.print(dim(`${plain(workspace)}: ${inWords(plan)}`));
}

export function inWords(plan: Plan): string {
  const { create, update, delete: gone, unchanged } = counts(plan);
  if (create + update + gone === 0) return `nothing to do, ${unchanged} unchanged.`;
  return `${create} to create, ${update} to update, ${gone} to delete, ${unchanged} unchanged.`;
}

function counts({ steps }: Plan): Record<Step['action'], number> {
  const counted = { create: 0, update: 0, delete: 0, unchanged: 0 };
  for (const { action } of steps) counted[action]++;
  return counted;
}

const summary = ({ kind, name, action, changes }: Step) => ({
  kind,
  name,
  action,
  changes:
    action === 'delete' ? [] : changes.map(({ field, from, to }: Change) => ({ field, from: safe(field, from), to: safe(field, to) })),
});

/** A credential that somebody wrote into a route by hand is not repeated. */
function safe(field: string, value: unknown): unknown {
  if (!/(?:^|\.)inject_|^method_configs|\.method_configs/.test(field)) return value;
  return mapLeaves(value, field.split('.').at(-1) ?? '', (name, leaf) => (isLiteralCredential(name, leaf) ? '(hidden)' : leaf));
}

const LONGEST = 200;
function shown(field: string, value: unknown): string {
  if (value === undefined) return '(none)';
  const text = plain(JSON.stringify(safe(field, value)));
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
}
