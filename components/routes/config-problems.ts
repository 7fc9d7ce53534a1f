import { PutRouteEnvironment } from '#server/domain/routes/schema.ts';
import type { Draft } from './config-draft.ts';

/** What the schema of the API says about the draft, by field; empty when it may be sent. */
export function problemsOf(draft: Draft, place: { id: string; env: string }): Record<string, string> {
  const checked = PutRouteEnvironment.safeParse({ ...place, ...draft });
  if (checked.success) return {};
  return Object.fromEntries(checked.error.issues.map((issue) => [issue.path.join('.'), issue.message]).reverse());
}
