import { ArrowUp } from 'lucide-react';
import { Button } from '#components/ui/button.tsx';
import { grouped } from '#components/ui/numbers.ts';
import type { Held } from './use-paused-tail.ts';

/** What came while the list was being read. The list goes on by itself when it is left, or at once when this is pressed. */
export function Waiting({ tail }: { tail: Held }) {
  if (tail.waiting === 0) return null;
  return (
    <Button size="sm" variant="primary" icon={<ArrowUp />} keys="n" onClick={tail.show} className="pointer-events-auto rounded-full">
      {grouped(tail.waiting)} new, paused while you scroll
    </Button>
  );
}

/** The switch of the live tail, and how the tail does while it is on. */
export function LiveLabel({ tail, on }: { tail: Held; on: boolean }) {
  if (!on) return <>Live tail</>;
  return (
    <span className="figures flex items-center gap-1.5">
      Live tail
      <span role="status" className="text-ink-3 text-xs">
        {tail.state === 'connecting' && 'connecting…'}
        {tail.state === 'closed' && 'disconnected; reload the page'}
        {tail.waiting > 0 && 'paused'}
        {tail.heldBack > 0 && ` ${grouped(tail.heldBack)} not shown`}
      </span>
    </span>
  );
}
