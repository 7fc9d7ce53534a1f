import { Badge, Status } from '#components/ui/badge.tsx';
import type { Attempt } from './webhook-labels.ts';

const TRIGGERS = { event: null, test: 'Test', redelivery: 'Again', recover: 'Recovered' } as const;

/** What was sent, and why when no event caused it just then. */
export function EventCell({ attempt: { event_type, trigger } }: { attempt: Attempt }) {
  return (
    <span className="flex items-center gap-1.5">
      <span className="font-mono text-xs">{event_type}</span>
      {TRIGGERS[trigger] && <Badge>{TRIGGERS[trigger]}</Badge>}
    </span>
  );
}

/** How it ended. */
export function OutcomeCell({ attempt: { success, next_attempt_at } }: { attempt: Attempt }) {
  return (
    <Status state={success ? 'ok' : next_attempt_at ? 'warning' : 'failing'}>
      {success ? 'Delivered' : next_attempt_at ? 'Failed, tried again' : 'Failed'}
    </Status>
  );
}
