'use client';

import { useQuery } from '@tanstack/react-query';
import { useTRPC } from '#components/trpc/provider.tsx';
import { Field } from '#components/ui/field.tsx';
import { Select } from '#components/ui/select.tsx';
import type { Detail } from './labels.ts';

type Props = { migration: Detail; value: string; onValueChange: (id: string) => void };

/** One of the secrets that the migration made, by the name of its item. */
export function CommittedSecret({ migration, value, onValueChange }: Props) {
  const trpc = useTRPC();
  const items = useQuery(trpc.migrations.items.queryOptions({ id: migration.id, status: 'committed', per_page: 100 })).data?.items ?? [];
  const options = items.flatMap(({ source_name, committed_secret_ids }) =>
    committed_secret_ids.map((id) => ({ value: id, label: source_name })),
  );
  return (
    <Field label="Committed secret" required>
      <Select value={value} onValueChange={onValueChange} options={[{ value: '', label: 'Choose a secret' }, ...options]} />
    </Field>
  );
}
