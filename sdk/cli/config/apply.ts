import { CliError, EXIT } from '../exit.ts';
import { plain, type Terminal } from '../terminal.ts';
import { type KindName, oneOf } from './document.ts';
import type { Making } from './kind.ts';
import { isAsPlanned, KINDS, type Plan, pending, type Step } from './plan.ts';
import { pathOfKind } from './remote.ts';

/** Told after each resource that was made or deleted, so that a state file never lags behind by more than one. */
export type Record = (step: Step, id: string) => void;

const PAST = { create: 'Created', update: 'Updated', delete: 'Deleted', unchanged: 'Unchanged:' } as const;

/**
 * Makes the changes in the order of the plan and stops at the first that fails. Each resource is looked at again right before its change.
 * @throws CliError when it is no longer as the plan saw it; SallyportError; each after saying what was done and what wasn't
 */
export async function applyPlan(plan: Plan, making: Making, record: Record, terminal: Terminal): Promise<void> {
  const steps = pending(plan);
  const done = new Set<Step>();
  try {
    for (const { step, work } of tasksOf(steps, making, record)) {
      terminal.signal.throwIfAborted();
      if (!(await work())) continue;
      done.add(step);
      terminal.print(`${PAST[step.action]} ${oneOf(step.kind)} ${plain(step.name)}`);
    }
  } catch (error) {
    const left = steps.filter((step) => !done.has(step)).map((step) => `${oneOf(step.kind)} ${plain(step.name)}`);
    terminal.error(`${done.size} of ${steps.length} changes were made. Not made, or in part: ${left.join(', ')}.`);
    terminal.error('Correct the cause and run the command again: it goes on from here.');
    throw error;
  }
}

/** `work` answers whether its step is complete. */
type Task = { step: Step; work: () => Promise<boolean> };

/** Collections get their variables and defaults when the secrets and clients in them exist, right before the routes. */
function tasksOf(steps: readonly Step[], making: Making, record: Record): Task[] {
  const isSecondPart = ({ kind, wanted }: Step) => wanted !== undefined && KINDS[kind].finish !== undefined;
  const first = (step: Step): Task => ({ step, work: () => applyStep(step, making, record).then(() => !isSecondPart(step)) });
  const second = (step: Step): Task => ({ step, work: () => finishStep(step, making) });
  const isEarly = ({ kind, wanted }: Step) => wanted !== undefined && kind !== 'routes';
  return [
    ...steps.filter(isEarly).map(first),
    ...steps.filter(isSecondPart).map(second),
    ...steps.filter((step) => !isEarly(step)).map(first),
  ];
}

async function finishStep({ kind, id = '', wanted }: Step, making: Making): Promise<boolean> {
  if (wanted) await KINDS[kind].finish?.(id, wanted, making);
  return true;
}

async function applyStep(step: Step, making: Making, record: Record): Promise<void> {
  const { remote } = making;
  const kind = KINDS[step.kind];
  if (!(await isAsPlanned(step, remote)))
    throw new CliError(`The ${oneOf(step.kind)} ${step.name} was changed by somebody else since the plan was made.`, {
      code: EXIT.refused,
      next_step: 'Run the command again to see what it is now.',
    });
  if (step.wanted === undefined) {
    await remote.send('DELETE', `${pathOfKind(step.kind)}/{id}`, { path: { id: step.id ?? '' } });
    record(step, step.id ?? '');
  } else if (step.id === undefined || step.current === undefined) {
    await kind.create(step.wanted, making, (id) => {
      step.id = id;
      record(step, id);
    });
  } else await kind.update(step.id, step.wanted, step.current, making);
  for (const name of affected(step.kind)) remote.forget(name);
}

const affected = (kind: KindName): KindName[] => (kind === 'collections' ? ['collections', 'routes', 'secrets', 'clients'] : [kind]);
