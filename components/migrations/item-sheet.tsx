'use client';

import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { revealCall } from '#components/reveals/reveal-call.ts';
import { useRevealForbidden } from '#components/reveals/use-reveal-forbidden.ts';
import { usePath, useTRPC, useTRPCClient } from '#components/trpc/provider.tsx';
import { MutationError } from '#components/trpc/query-error.tsx';
import { Button } from '#components/ui/button.tsx';
import { Checkbox } from '#components/ui/choices.tsx';
import { Field } from '#components/ui/field.tsx';
import { Input } from '#components/ui/input.tsx';
import { KeyValueList } from '#components/ui/key-value.tsx';
import { textLink } from '#components/ui/layout.tsx';
import { Link } from '#components/ui/link.tsx';
import { RevealField } from '#components/ui/reveal-field.tsx';
import { Select } from '#components/ui/select.tsx';
import { Sheet, SheetFooter } from '#components/ui/sheet.tsx';
import { Time } from '#components/ui/time.tsx';
import { type Detail, ITEM_STATUS, type ItemRow } from './labels.ts';

type Props = {
  open: boolean;
  item: ItemRow | undefined;
  migration: Detail;
  onClose: () => void;
  onReject: (id: string) => void;
  onDecided: (text: string) => void;
};

/** One item: where it comes from, its value behind a verification, and what it is to become. */
export function ItemSheet({ open, item, ...rest }: Props) {
  return (
    <Sheet
      open={open}
      onOpenChange={(next) => next || rest.onClose()}
      title={item?.source_name ?? 'Item'}
      description="Nothing is used before it is approved and committed."
    >
      {item && <Body key={item.id} item={item} {...rest} />}
    </Sheet>
  );
}

function Body({ item, migration, onClose, onReject, onDecided }: Omit<Props, 'open' | 'item'> & { item: ItemRow }) {
  const trpc = useTRPC();
  const client = useTRPCClient();
  const path = usePath();
  const forbidden = useRevealForbidden('migration:review');
  const environments = useQuery(trpc.environments.list.queryOptions({})).data?.data ?? [];
  const [name, setName] = useState(item.suggested.name);
  const [environment, setEnvironment] = useState(item.suggested.environment ?? '');
  const [split, setSplit] = useState(false);
  const [certificate, setCertificate] = useState(false);
  const [error, setError] = useState<unknown>();
  const [busy, setBusy] = useState(false);
  const ref = { id: migration.id, itemId: item.id };
  const noValue = item.value_length === null ? 'There is no value' : undefined;
  const open = item.status === 'pending_review' || item.status === 'approved';
  const taken = item.conflict !== null && item.suggested.name === name ? item.conflict : null;
  const approve = async () => {
    setBusy(true);
    setError(undefined);
    try {
      await client.migrations.approveItem.mutate(
        {
          ...ref,
          ...(taken ? { action: 'new_version' as const, existing_secret_id: taken.secret_id } : {}),
          target_name: name,
          ...(environment ? { environment } : {}),
          ...(split ? { split: 'json_keys' as const } : {}),
          ...(certificate ? { secret_type: 'certificate' as const } : {}),
        },
        { context: { reveal: true } },
      );
      onDecided('Item approved');
      onClose();
    } catch (refused) {
      setError(refused);
    }
    setBusy(false);
  };
  const undo = async () => {
    setBusy(true);
    try {
      await client.migrations.unapproveItem.mutate(ref);
      onDecided('Approval taken back');
    } catch (refused) {
      setError(refused);
    }
    setBusy(false);
  };
  const reveal = (full: boolean) => async (reason?: string) => {
    const { value, reveals_left } = await client.migrations.revealItem.mutate({ ...ref, full }, revealCall(reason));
    return { value, left: reveals_left };
  };
  return (
    <div className="flex grow flex-col gap-4">
      <KeyValueList
        items={[
          { label: 'Status', value: ITEM_STATUS[item.status].label },
          { label: 'At the source', value: item.source_ref, copy: item.source_ref },
          { label: 'Version', value: item.source_version || undefined },
          { label: 'Kind', value: item.kind.replaceAll('_', ' ') },
          { label: 'Erased', value: open && item.expires_at ? <Time value={item.expires_at} /> : undefined },
          { label: 'Reason', value: item.decision?.reason },
        ]}
      />
      {open && (
        <>
          <Field group label="Masked value">
            <RevealField label={`masked value of ${item.source_name}`} disabledReason={forbidden ?? noValue} reveal={reveal(false)} />
          </Field>
          <Field group label="Full value">
            <RevealField label={`value of ${item.source_name}`} disabledReason={forbidden ?? noValue} reveal={reveal(true)} />
          </Field>
        </>
      )}
      {item.committed_secret_ids.map((id) => (
        <Link key={id} href={path(`/secrets/${id}`)} className={textLink}>
          Open the secret
        </Link>
      ))}
      {item.status === 'pending_review' && (
        <>
          <Field
            label="Name"
            hint={taken ? `A secret has this name: approving adds a new version to ${taken.name}.` : 'The name of the secret.'}
          >
            <Input mono value={name} maxLength={128} onChange={(event) => setName(event.target.value)} />
          </Field>
          <Field label="Environment">
            <Select
              value={environment}
              onValueChange={setEnvironment}
              options={[
                { value: '', label: 'Default environment' },
                ...environments.map((one) => ({ value: one.name, label: one.display_name })),
              ]}
            />
          </Field>
          {item.kind === 'pem' && !taken && (
            <Checkbox
              checked={certificate}
              onCheckedChange={setCertificate}
              label="Make it a certificate"
              description="Routes can present or trust it. Only for a PEM file with a certificate."
            />
          )}
          {item.suggested.split_keys.length > 0 && !taken && (
            <Checkbox
              checked={split}
              onCheckedChange={setSplit}
              label="One secret for each key"
              description={item.suggested.split_keys.map((key) => `${name}_${key}`).join(', ')}
            />
          )}
        </>
      )}
      {error !== undefined && <MutationError error={error} />}
      <SheetFooter>
        <div className="ml-auto flex gap-2">
          {open && (
            <Button variant="danger-quiet" disabledReason={forbidden} onClick={() => onReject(item.id)}>
              Reject
            </Button>
          )}
          {item.status === 'approved' && (
            <Button loading={busy} disabledReason={forbidden} onClick={() => void undo()}>
              Take back approval
            </Button>
          )}
          {item.status === 'pending_review' && (
            <Button variant="primary" loading={busy} disabledReason={forbidden ?? noValue} onClick={() => void approve()}>
              {taken ? 'Approve as new version' : 'Approve'}
            </Button>
          )}
        </div>
      </SheetFooter>
    </div>
  );
}
