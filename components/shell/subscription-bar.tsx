import { CircleAlert, TriangleAlert } from 'lucide-react';
import { cn } from '#components/ui/cn.ts';
import { describeSubscription } from './subscription-text.ts';

/** Stands over every page of a workspace whose subscription is not in order: what that stops, and who can mend it. */
export function SubscriptionBar({ status }: { status: string | undefined }) {
  const told = describeSubscription(status);
  if (!told) return null;
  const Icon = told.stops ? CircleAlert : TriangleAlert;
  return (
    <p
      role="status"
      className={cn(
        'flex flex-wrap items-start justify-center gap-x-2 border-b px-4 py-1.5 text-xs',
        told.stops ? 'border-bad-line bg-bad-soft text-bad-ink' : 'border-warn-line bg-warn-soft text-warn-ink',
      )}
    >
      <span className="inline-flex items-center gap-2 font-medium">
        <Icon aria-hidden className="size-3.5 shrink-0" /> {told.what}
      </span>
      <span>{told.next}</span>
    </p>
  );
}
