import type { LimitMatch, LimitPolicy } from '../../snapshot/ai-spend.ts';
import type { PolicySubject } from './subjects.ts';

/** What limit policies look at. */
export type LimitedCall = {
  readonly user: string | null;
  readonly team: string | null;
  readonly model: string | null;
  readonly tags: Readonly<Record<string, string>>;
};

/** The limit policies that bind a call, each with the group that the call is counted in. They are reserved and settled with the other subjects. */
export const limitSubjects = (limits: readonly LimitPolicy[], call: LimitedCall): PolicySubject[] =>
  limits
    .filter(({ match }) => matches(match, call))
    .map(({ id, name, group_by, metric, window, limit, action }) => ({
      type: 'policy',
      id: group_by.length === 0 ? id : `${id} ${JSON.stringify(group_by.map((by) => groupOf(by, call)))}`,
      name,
      metric,
      window,
      limit,
      action,
    }));

const matches = (match: LimitMatch, { user, team, model, tags }: LimitedCall): boolean =>
  (match.user === undefined || match.user === user) &&
  (match.team === undefined || match.team === team) &&
  (match.model === undefined || isModel(match.model, model)) &&
  (match.tag === undefined ||
    (match.tag.value === undefined ? Object.hasOwn(tags, match.tag.key) : tags[match.tag.key] === match.tag.value));

/** A pattern may end in `*`. */
const isModel = (pattern: string, model: string | null): boolean =>
  model !== null && (pattern.endsWith('*') ? model.startsWith(pattern.slice(0, -1)) : model === pattern);

const groupOf = (by: string, { user, team, model, tags }: LimitedCall): string | null => {
  if (by === 'user') return user;
  if (by === 'team') return team;
  if (by === 'model') return model;
  return tags[by.slice('tag:'.length)] ?? null;
};
