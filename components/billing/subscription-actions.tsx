'use client';

import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { useScope, useTRPC } from '#components/trpc/provider.tsx';
import { refusalOf } from '#components/trpc/refusal.ts';
import { useForbidden } from '#components/trpc/role.ts';
import { Button } from '#components/ui/button.tsx';
import { ConfirmDanger } from '#components/ui/confirm-danger.tsx';
import { Field } from '#components/ui/field.tsx';
import { Select } from '#components/ui/select.tsx';
import type { Billing } from './billing.ts';
import { dayOf } from './billing-text.ts';
import { useBillingChanged } from './use-billing-changed.ts';

/** What an Owner can do with the subscription as it stands; what can't be done now isn't there. */
export function SubscriptionActions({ billing }: { billing: Billing }) {
  const trpc = useTRPC();
  const changed = useBillingChanged();
  const [asking, setAsking] = useState<'cancel' | 'pause' | null>(null);
  const forbidden = useForbidden('billing:change_plan');
  const trial = useMutation(trpc.billing.trial.mutationOptions({ onSuccess: () => changed('Trial started') }));
  const portal = useMutation(trpc.billing.portal.mutationOptions({ onSuccess: ({ url }) => window.location.assign(url) }));
  const paid = billing.plan !== 'free';
  const canPause = paid && billing.status === 'active';
  const canCancel = paid && !billing.cancel_at && (billing.status === 'active' || billing.status === 'dunning');
  if (!billing.trial.available && !billing.payment_method && !canPause && !canCancel) return null;
  return (
    <div className="flex flex-wrap gap-2">
      {billing.trial.available && (
        <Button variant="primary" loading={trial.isPending} disabledReason={forbidden} onClick={() => trial.mutate({})}>
          Try Pro for 14 days
        </Button>
      )}
      {billing.payment_method && (
        <Button loading={portal.isPending} disabledReason={forbidden} onClick={() => portal.mutate({})}>
          Manage payment
        </Button>
      )}
      {canPause && (
        <Button disabledReason={forbidden} onClick={() => setAsking('pause')}>
          Pause…
        </Button>
      )}
      {canCancel && (
        <Button variant="danger-quiet" disabledReason={forbidden} onClick={() => setAsking('cancel')}>
          Cancel…
        </Button>
      )}
      {asking === 'cancel' && <CancelDialog billing={billing} onClose={() => setAsking(null)} />}
      {asking === 'pause' && <PauseDialog onClose={() => setAsking(null)} />}
    </div>
  );
}

function CancelDialog({ billing, onClose }: { billing: Billing; onClose: () => void }) {
  const trpc = useTRPC();
  const changed = useBillingChanged();
  const { slug } = useScope();
  const cancel = useMutation(
    trpc.billing.cancel.mutationOptions({
      onSuccess: (after) => {
        changed(after.cancel_at ? `The subscription ends on ${dayOf(after.cancel_at)}` : 'Subscription cancelled');
        onClose();
      },
    }),
  );
  const end = billing.period.end ? dayOf(billing.period.end) : 'the end of this month';
  return (
    <ConfirmDanger
      open
      onOpenChange={(open) => !open && onClose()}
      space="live"
      title="Cancel the subscription?"
      resourceName={slug}
      confirmLabel="Cancel subscription"
      cancelLabel="Keep subscription"
      consequences={[
        `Until ${end}, everything keeps working, and you can undo this.`,
        'After that, proxied calls and API calls are refused until you choose a plan or return to Free.',
        'Nothing is deleted. You can still sign in, look at everything and export it.',
      ]}
      busy={cancel.isPending}
      error={errorOf(cancel.error)}
      onConfirm={() => cancel.mutate({})}
    />
  );
}

const DAYS = ['14', '30', '60', '90'] as const;

function PauseDialog({ onClose }: { onClose: () => void }) {
  const trpc = useTRPC();
  const changed = useBillingChanged();
  const { slug } = useScope();
  const [days, setDays] = useState<(typeof DAYS)[number]>('30');
  const pause = useMutation(
    trpc.billing.pause.mutationOptions({
      onSuccess: () => {
        changed('The workspace is paused');
        onClose();
      },
    }),
  );
  return (
    <ConfirmDanger
      open
      onOpenChange={(open) => !open && onClose()}
      space="live"
      title="Pause the workspace?"
      resourceName={slug}
      confirmLabel="Pause"
      consequences={[
        'Proxied calls and API calls are refused from now on, in Live and Test.',
        'Billing stops. You can still sign in, look at everything, export it and revoke keys.',
        `After ${days} days, or when an Owner resumes it, everything works again and billing goes on.`,
      ]}
      busy={pause.isPending}
      error={errorOf(pause.error)}
      onConfirm={() => pause.mutate({ days: Number(days) })}
    >
      <Field label="Resume after">
        <Select options={DAYS.map((value) => ({ value, label: `${value} days` }))} value={days} onValueChange={setDays} />
      </Field>
    </ConfirmDanger>
  );
}

/** The shared dialog asks for the confirmation; what it was refused for then stays here. */
function errorOf(error: unknown): { message: string; request_id?: string | undefined } | undefined {
  if (!error) return undefined;
  const { message, request_id } = refusalOf(error);
  return { message, request_id: request_id || undefined };
}
