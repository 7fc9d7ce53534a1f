import { FlaskConical } from 'lucide-react';
import { Badge } from './badge.tsx';

export type Space = 'live' | 'test';

/** Three pixels of amber along the top edge of everything in Test. */
export const TestBand = () => <div aria-hidden className="keep-fill h-[3px] shrink-0 bg-test" />;

/** Says in words what the band says in colour. */
export const TestChip = ({ className }: { className?: string }) => (
  <Badge tone="test" icon={<FlaskConical aria-hidden />} className={className}>
    Test data
  </Badge>
);

/** For create dialogs: which partition the new thing is written to. */
export const SpaceNote = ({ space }: { space: Space }) => (
  <p className="flex items-center gap-2 text-ink-3 text-xs">
    {space === 'test' ? <TestChip /> : <Badge tone="good">Live</Badge>}
    {space === 'test' ? 'Live isn’t affected.' : 'Takes effect immediately.'}
  </p>
);
