'use client';

import { Sheet } from '#components/ui/sheet.tsx';
import { PRESETS } from './presets.ts';
import type { CredentialRow } from './rows.ts';
import { WaysIn } from './ways-in.tsx';

/** How an SDK uses a credential that is here already: the same three ways as at its creation. */
export function TokenSheet({ credential, onClose }: { credential: CredentialRow | undefined; onClose: () => void }) {
  const preset =
    PRESETS.find(({ hosts }) => hosts.some((host) => credential?.allowed_hosts.includes(host))) ?? PRESETS[PRESETS.length - 1]!;
  return (
    <Sheet
      open={credential !== undefined}
      onOpenChange={(next) => next || onClose()}
      title="Use this credential"
      description={credential?.name}
      size="lg"
    >
      {credential && (
        <WaysIn
          key={credential.secret_id}
          secretId={credential.secret_id}
          name={credential.name}
          hosts={credential.allowed_hosts}
          preset={preset}
        />
      )}
    </Sheet>
  );
}
