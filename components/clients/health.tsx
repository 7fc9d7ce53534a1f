import type { Traffic } from '#components/logs/use-traffic.ts';
import { Status } from '#components/ui/badge.tsx';
import { type Health, healthOf } from '#server/domain/clients/health.shared.ts';

export const HEALTH_LOOKS: Record<Health, { state: 'ok' | 'warning' | 'failing' | 'off'; label: string }> = {
  healthy: { state: 'ok', label: 'Healthy' },
  degraded: { state: 'warning', label: 'Degraded' },
  down: { state: 'failing', label: 'Down' },
  idle: { state: 'off', label: 'Idle' },
};

/** How the calls of a client went in the last 24 hours. The share of failures stands beside it, so that the word is no riddle. */
export function ClientHealth({ traffic }: { traffic: Pick<Traffic, 'calls_24h' | 'errors_24h'> | undefined }) {
  if (!traffic) return <span className="text-ink-3">…</span>;
  const { calls_24h: calls, errors_24h: errors } = traffic;
  const { state, label } = HEALTH_LOOKS[healthOf(calls ?? 0, errors ?? 0)];
  return (
    <Status state={state}>
      {label}
      {calls !== null && errors !== null && errors > 0 && (
        <span className="figures text-ink-3 text-xs"> {Math.max(1, Math.round((errors / calls) * 100))}% errors</span>
      )}
    </Status>
  );
}
