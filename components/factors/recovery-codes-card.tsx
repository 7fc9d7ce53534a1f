'use client';

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { RotateCw } from 'lucide-react';
import { useState } from 'react';
import { usePersonCall } from '#components/me/person-calls.ts';
import { ME, type Person } from '#components/me/use-me.ts';
import { refusalOf } from '#components/trpc/refusal.ts';
import { Badge } from '#components/ui/badge.tsx';
import { Button } from '#components/ui/button.tsx';
import { ConfirmDanger } from '#components/ui/confirm-danger.tsx';
import { SectionCard } from '#components/ui/layout.tsx';

const FEW = 3;

type RecoveryCodesCardProps = { factors: Person['factors']; onCodes: (codes: readonly string[]) => void };

/** How many are left, and new ones. They sign in when the device is lost; they confirm nothing. */
export function RecoveryCodesCard({ factors, onCodes }: RecoveryCodesCardProps) {
  const call = usePersonCall();
  const queryClient = useQueryClient();
  const [asking, setAsking] = useState(false);
  const left = factors.recovery_codes_left;
  const hasFactor = factors.totp || factors.passkeys.length > 0;
  const renew = useMutation({
    mutationFn: () => call<{ recovery_codes: readonly string[] }>('POST', '/auth/2fa/recovery-codes'),
    gcTime: 0,
    onSuccess: ({ recovery_codes }) => {
      renew.reset();
      setAsking(false);
      void queryClient.invalidateQueries({ queryKey: ME });
      onCodes(recovery_codes);
    },
  });
  return (
    <>
      <SectionCard
        title={
          <span className="flex flex-wrap items-center gap-2">
            Recovery codes {hasFactor && <Badge tone={left === 0 ? 'bad' : left <= FEW ? 'warn' : 'neutral'}>{left} of 10 left</Badge>}
          </span>
        }
        description="Each signs you in once if you lose your device. Keep them somewhere else."
        className="pb-3.5"
        actions={
          <Button
            size="sm"
            icon={<RotateCw />}
            disabledReason={hasFactor ? undefined : 'Add a passkey or authenticator app first'}
            onClick={() => setAsking(true)}
          >
            {left === 0 ? 'Create codes' : 'Create new codes'}
          </Button>
        }
      />
      <ConfirmDanger
        open={asking}
        onOpenChange={(open) => {
          setAsking(open);
          renew.reset();
        }}
        title="Create new recovery codes?"
        consequences={
          left === 0 ? ['You get 10 codes, shown once.'] : ['You get 10 new codes, shown once.', 'The old codes stop working at once.']
        }
        confirmLabel="Create codes"
        space="live"
        busy={renew.isPending}
        error={renew.error ? refusalOf(renew.error) : undefined}
        onConfirm={() => renew.mutate()}
      />
    </>
  );
}
