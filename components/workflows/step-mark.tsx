import { Ban, CircleAlert, CircleCheck, CircleDashed, LoaderCircle, type LucideIcon, SkipForward } from 'lucide-react';
import type { NodeStatus, Problem } from '#server/domain/workflows/definition.shared.ts';

/** What is painted on a step besides itself. */
export type StepMark = {
  problems?: readonly Problem[] | undefined;
  /** Of a run. */
  status?: NodeStatus | undefined;
  /** A word on it: "120 ms", "3 of 5 items". */
  detail?: string | undefined;
  /** Between two versions. */
  diff?: 'added' | 'removed' | 'changed' | undefined;
};

/** How each end of a step looks and is called. */
export const STATUS: Record<NodeStatus, { icon: LucideIcon; ink: string; box: string; label: string }> = {
  pending: { icon: CircleDashed, ink: 'text-ink-3', box: 'border-line-strong', label: 'Waiting' },
  running: { icon: LoaderCircle, ink: 'animate-spin text-accent-ink', box: 'border-accent-line bg-accent-soft', label: 'Running' },
  succeeded: { icon: CircleCheck, ink: 'text-good-ink', box: 'border-good-line bg-good-soft', label: 'Succeeded' },
  failed: { icon: CircleAlert, ink: 'text-bad-ink', box: 'border-bad-line bg-bad-soft', label: 'Failed' },
  skipped: { icon: SkipForward, ink: 'text-ink-3', box: 'border-dashed bg-subtle', label: 'Skipped' },
  cancelled: { icon: Ban, ink: 'text-note-ink', box: 'border-note-line', label: 'Canceled' },
};

/** How a step of a run ended, as a picture with a name. */
export function StatusIcon({ status }: { status: NodeStatus }) {
  const { icon: Icon, ink, label } = STATUS[status];
  return <Icon role="img" aria-label={label} className={`size-4 shrink-0 ${ink}`} />;
}
