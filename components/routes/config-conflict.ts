import { type Choice, type Difference, differencesOf, onlyMine, resolved, same } from '#components/ui/conflict.ts';
import type { Config, ConfigField, Draft } from './config-draft.ts';
import type { RouteDetailData } from './route-data.ts';

/** One environment of a route as it was when an edit of it began. */
export type Start = { config: Config; isBase: boolean; updated_at: string };
type Values = Partial<Record<ConfigField, unknown>>;

/** The environment in a route's answer; undefined when it is not served (any more). */
export function startOf(
  route: Pick<RouteDetailData, 'environments' | 'base_environment'>,
  env: string,
  updated_at: string,
): Start | undefined {
  const config = route.environments.find((one) => one.environment_name === env);
  return config && { config, isBase: env === route.base_environment, updated_at };
}

/** What to ask when somebody else changed the environment meanwhile, and which fields only this draft touches. */
export function disagreement(start: Start, now: Start, draft: Draft): { differences: Difference[]; kept: string[] } {
  const [base, theirs, mine] = versions(start, now, draft);
  return { differences: differencesOf(base, theirs, mine), kept: onlyMine(base, theirs, mine) };
}

/** The draft that, on top of their version, saves what was chosen. */
export function settled(start: Start, now: Start, draft: Draft, choices: Readonly<Record<string, Choice>>): Draft {
  const [base, theirs, mine] = versions(start, now, draft);
  const wanted = resolved(base, theirs, mine, choices) as Values;
  const fields = (Object.keys(wanted) as ConfigField[]).filter((field) => !same(wanted[field], theirs[field]));
  return Object.fromEntries(fields.map((field) => [field, wanted[field]]));
}

/** Local values alone: null on an override is "as the base", so a change of the base is no change of the override. */
function versions(start: Start, now: Start, draft: Draft): [Values, Values, Values] {
  const base = localOf(start);
  return [base, localOf(now), { ...base, ...draft }];
}

/** What an environment says itself: null where it inherits. */
export const localOf = ({ config, isBase }: Start): Values => {
  const { environment_name: _, overridden_fields, ...values } = config;
  return Object.fromEntries(
    Object.entries(values).map(([field, value]) => [field, isBase || overridden_fields.includes(field) ? value : null]),
  );
};
