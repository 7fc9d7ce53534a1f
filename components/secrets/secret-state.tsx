import { Badge, Status } from '#components/ui/badge.tsx';
import { Time } from '#components/ui/time.tsx';
import type { SecretRow } from './secret-row.ts';
import { healthOf } from './value-state.ts';

/** Whether a secret works, and until when. */
export function SecretState({ secret }: { secret: SecretRow }) {
  const { health, ends_at } = healthOf(secret, Date.now());
  const due = secret.rotation_due_at && (
    <span className="text-ink-3 text-xs">
      Rotation due <Time value={secret.rotation_due_at} />
    </span>
  );
  return (
    <span suppressHydrationWarning className="flex flex-wrap items-center gap-x-2 gap-y-0.5">
      {health === 'empty' && <Status state="off">No value</Status>}
      {health === 'ok' && (
        <Status state="ok">
          {ends_at ? (
            <>
              Valid until <Time value={ends_at} format="date" />
            </>
          ) : (
            'OK'
          )}
        </Status>
      )}
      {health === 'due' && (
        <Status state="warning">
          Rotation due <Time value={secret.rotation_due_at} />
        </Status>
      )}
      {(health === 'expiring' || health === 'expired') && (
        <Badge tone={health === 'expired' ? 'bad' : 'warn'}>
          {health === 'expired' ? 'Expired' : 'Expires'} <Time value={ends_at} />
          {health === 'expired' && (secret.strict_expiry_enforcement ? ', not injected' : ', still injected')}
        </Badge>
      )}
      {(health === 'ok' || health === 'expiring') && due}
    </span>
  );
}
