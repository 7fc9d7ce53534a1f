import { Badge } from '#components/ui/badge.tsx';
import { counted } from '#components/ui/numbers.ts';
import type { SecretRow } from './secret-row.ts';

/** Whether a secret is shared: by this workspace, or with it. */
export function ShareBadges({ secret }: { secret: Pick<SecretRow, 'shared' | 'share_count'> }) {
  const { shared, share_count } = secret;
  if (shared)
    return shared.status === 'active' ? (
      <Badge>Shared by {shared.owner_workspace}</Badge>
    ) : (
      <Badge tone="bad">{shared.status === 'expired' ? 'Share expired' : 'No longer shared'}</Badge>
    );
  return share_count > 0 ? <Badge>{counted(share_count, 'share')}</Badge> : null;
}
