import { notifyFailed } from '#components/ui/toaster.tsx';
import { refusalOf } from './refusal.ts';

/** Tells of a change that was refused where the page has no place for it. `before` says what did not happen, when the refusal alone does not. */
export function notifyRefused(error: unknown, before = ''): void {
  const { message, request_id } = refusalOf(error);
  notifyFailed(before + message, request_id || undefined);
}
