import { Badge } from '#components/ui/badge.tsx';
import { Time } from '#components/ui/time.tsx';

const DAY = 86_400_000;
const SOON_DAYS = 30;

/** When a value ends, as a chip once it is near. Strict expiry stops injection, so it is said. */
export function ExpiryChip({ at, strict, empty = 'No expiry' }: { at: string | null; strict: boolean; empty?: string }) {
  if (!at) return <span className="text-ink-3">{empty}</span>;
  const days = (new Date(at).getTime() - Date.now()) / DAY;
  if (days > SOON_DAYS) return <Time value={at} format="date" />;
  return (
    <span suppressHydrationWarning>
      <Badge tone={days <= 0 ? 'bad' : days <= 7 ? 'warn' : 'neutral'}>
        {days <= 0 ? 'Expired' : 'Expires'} <Time value={at} />
        {days <= 0 && strict ? ', not injected' : ''}
      </Badge>
    </span>
  );
}
