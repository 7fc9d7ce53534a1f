import type { z } from 'zod';
import { type Ctx, own } from '#server/kernel/context.ts';
import { read } from '#server/kernel/database.ts';
import { newId } from '#server/kernel/ids.ts';
import { checkScope, conditionOf } from './condition.ts';
import { type AlertType, type Condition, canPreview, isOfRequests, thresholdOf, UNITS, windowOf } from './conditions.shared.ts';
import { findAll } from './finding.ts';
import { emptyCell } from './measure.ts';
import type { PreviewInput } from './schema.ts';
import { checkRoutes } from './service.ts';
import { type Simulated, simulate, type Values } from './simulation.ts';
import { callsByMinute } from './sources/calls.ts';
import { entriesByMinute } from './sources/records.ts';
import { alertById } from './store.ts';
import { dateOf, minuteOf, type Watched } from './watched.ts';

const DAYS_MINUTES = 7 * 24 * 60;
const STEP = 60;
/** Incidents that are listed, the newest. */
const LISTED = 100;

/** What an alert would have done in the last seven days. @throws Refusal not_found */
export async function previewAlert(ctx: Ctx, { id }: { id: string }) {
  const { type, condition, route_ids, environments } = await read(ctx, (tx) => alertById(tx, ctx, id));
  return preview(ctx, { type, condition, route_ids, environments });
}

/** The same for one that isn't saved. @throws Refusal validation_error */
export async function previewOf(ctx: Ctx, { type, condition: given, ...scope }: z.output<typeof PreviewInput>) {
  const condition = conditionOf(type, given as Condition);
  checkScope(type, scope);
  await read(ctx, (tx) => checkRoutes(tx, ctx, scope.route_ids));
  return preview(ctx, { type, condition, ...scope });
}

type Draft = { type: AlertType; condition: Condition; route_ids: string[]; environments: string[] };

async function preview(ctx: Ctx, draft: Draft) {
  const { type, condition } = draft;
  const last = minuteOf(ctx.now) - 1;
  const first = last - DAYS_MINUTES + 1;
  const supported = canPreview(type);
  const { incidents, values } = supported ? await past(ctx, draft, { first, last }) : { incidents: [], values: [] };
  const names = await routeNames(ctx, [...new Set(incidents.map(({ key }) => key))]);
  return {
    supported,
    fired: supported ? incidents.length : null,
    ...{ from: dateOf(first), to: dateOf(last + 1), threshold: thresholdOf(type, condition), unit: UNITS[type], step_minutes: STEP },
    incidents: incidents.slice(-LISTED).map(({ key, started, resolved, peak }) => ({
      ...{ subject: names.get(key) ?? null, route_id: names.has(key) ? key : null, peak },
      ...{ started_at: dateOf(started), resolved_at: resolved === null ? null : dateOf(resolved) },
    })),
    points: supported ? pointsOf(type, values, { first, last }) : [],
    holds_now: await holdsNow(ctx, draft),
  };
}

type Span = { first: number; last: number };

/** Incidents in the order of their start, and what was measured of each group. */
async function past(ctx: Ctx, draft: Draft, span: Span): Promise<{ incidents: Simulated[]; values: Values[] }> {
  const groups = isOfRequests(draft.type)
    ? await callsByMinute({ ...own(ctx), ...draft }, span.first - windowOf(draft.type, draft.condition), span.last)
    : new Map([['', await entryCells(ctx, draft, span)]]);
  const results = [...groups].map(([key, cells]) => simulate(key, draft, cells, span));
  return {
    incidents: results.flatMap(({ incidents }) => incidents).sort((a, b) => a.started - b.started),
    values: results.map(({ values }) => values),
  };
}

async function entryCells(ctx: Ctx, { type, condition }: Draft, { first, last }: Span) {
  const from = dateOf(first - windowOf(type, condition));
  const counts = await entriesByMinute(ctx, type, condition, { from, to: dateOf(last + 1) });
  return new Map([...counts].map(([minute, hits]) => [minute, { ...emptyCell(), hits }]));
}

/** The worst of all groups in each step: the lowest where silence is what is looked for. */
function pointsOf(type: AlertType, values: readonly Values[], { first, last }: Span) {
  const worst = type === 'no_traffic' ? Math.min : Math.max;
  const points: { at: Date; value: number | null }[] = [];
  for (let from = first; from <= last; from += STEP) {
    let value: number | null = null;
    for (let minute = from; minute < from + STEP; minute++)
      for (const group of values) {
        const one = group.get(minute) ?? null;
        if (one !== null) value = value === null ? one : worst(value, one);
      }
    points.push({ at: dateOf(from), value });
  }
  return points;
}

async function routeNames(ctx: Ctx, ids: readonly string[]): Promise<Map<string, string>> {
  const rows = await read(ctx, (tx) =>
    tx.routes.findMany({ where: { ...own(ctx), id: { in: ids.filter((id) => id !== '') } }, select: { id: true, name: true } }),
  );
  return new Map(rows.map(({ id, name }) => [id, name]));
}

/** What the condition holds for at this moment. */
async function holdsNow(ctx: Ctx, draft: Draft) {
  const alert: Watched = {
    ...{
      id: newId(),
      name: '',
      ...own(ctx),
      ...draft,
      severity: 'low',
      cooldown_minutes: 1,
      channel_ids: [],
      muted_until: null,
      state: 'ok',
    },
    watching_since: new Date(0),
  };
  // A draft has counted no events: nobody handed it any.
  if (draft.type === 'workflow_failed' || draft.type === 'agent_offline') return [];
  const { groups } = (await findAll([alert], ctx.now)).get(alert.id) ?? { groups: [] };
  const holding = groups.filter(({ holds }) => holds);
  const names = await routeNames(
    ctx,
    holding.flatMap(({ route_id }) => route_id ?? []),
  );
  return holding.map(({ key, subject, value }) => ({ subject: subject ?? names.get(key) ?? null, value }));
}
