import { isServableStatus } from '#server/domain/tenants/status.shared.ts';

const STOPPED = 'Calls through routes and of the API are refused. Pages can be read and keys revoked; nothing else can be changed.';
const OPERATOR = 'Whoever operates this installation can set it right.';

const WHAT: Record<string, string> = {
  past_due: 'The subscription of this workspace is past due.',
  paused: 'This workspace is paused.',
  cancelled: 'The subscription of this workspace is cancelled.',
};

/** What a subscription's state means for whoever looks at the workspace; undefined while it is in order (interface rule 20 §5). */
export function subscriptionInWords(status: string | undefined): { stops: boolean; what: string; next: string } | undefined {
  if (status === 'dunning')
    return { stops: false, what: 'A payment for this workspace failed.', next: `Everything works for 14 days from then on. ${OPERATOR}` };
  if (status === undefined || isServableStatus(status)) return undefined;
  return {
    stops: true,
    what: WHAT[status] ?? `The subscription of this workspace is ${status.replaceAll('_', ' ')}.`,
    next: `${STOPPED} ${OPERATOR}`,
  };
}
