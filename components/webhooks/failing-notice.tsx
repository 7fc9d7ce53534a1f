'use client';

import { Callout } from '#components/ui/callout.tsx';
import { textLink } from '#components/ui/layout.tsx';
import { Link } from '#components/ui/link.tsx';
import { counted } from '#components/ui/numbers.ts';
import { Time } from '#components/ui/time.tsx';
import { type Detail, problemOf } from './webhook-labels.ts';

/** Says that the receiver fails and why, and leads to what failed and to sending it again. */
export function FailingNotice({ webhook }: { webhook: Detail }) {
  const { failing_since, disabled_reason, last_error, consecutive_failures } = webhook;
  const off = disabled_reason === 'failing' || disabled_reason === 'gone';
  if (!failing_since && !off) return null;
  const title = off
    ? disabled_reason === 'gone'
      ? 'The receiver is gone, so this webhook was disabled'
      : 'This webhook failed for five days, so it was disabled'
    : 'Deliveries fail';
  return (
    <Callout tone={off ? 'bad' : 'warn'} title={title}>
      {problemOf({ error_code: last_error })}{' '}
      {failing_since && (
        <>
          {counted(consecutive_failures, 'delivery', 'deliveries')} failed since <Time value={failing_since} format="datetime" />.{' '}
        </>
      )}
      {off && 'Enable it under Settings when the receiver works, then recover what failed. '}
      <Link href="?tab=deliveries&success=false" className={textLink}>
        View and recover what failed
      </Link>
    </Callout>
  );
}
