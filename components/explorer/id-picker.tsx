'use client';

import { type UseQueryOptions, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { families } from '#components/families.ts';
import type { IdPicker as Picker } from '#components/shell/page-family.ts';
import { useTRPC } from '#components/trpc/provider.tsx';
import { Combobox } from '#components/ui/combobox.tsx';

/** Which family's IDs or names a field takes; undefined where they cannot be chosen from a list. */
export function pickerOf(field: string, path: string): (Picker & { byName: boolean }) | undefined {
  for (const { name, picker } of families) {
    // `id` is that of the family whose path it stands in.
    if (!picker || (field === 'id' && path.split('/')[1] !== name)) continue;
    if (picker.nameFields?.includes(field)) return { ...picker, byName: true };
    if (field === 'id' || picker.fields.includes(field)) return { ...picker, byName: false };
  }
  return undefined;
}

type Rows = { data: { id: string; name: string }[] };
type Props = {
  picker: Picker & { byName: boolean };
  value: string;
  onValue: (value: string) => void;
  label: string;
};

/** One's own resources by name, for a field that takes an ID. */
export function IdPicker({ picker, value, onValue, label }: Props) {
  const trpc = useTRPC();
  const [q, setQuery] = useState('');
  const query = picker.list(trpc, { per_page: 50, ...(q ? { q } : {}) });
  const list = useQuery({ ...(query as UseQueryOptions<Rows>), staleTime: 30_000 });
  const options = (list.data?.data ?? []).map((row) => ({ value: picker.byName ? row.name : row.id, label: row.name, detail: row.id }));
  return (
    <Combobox
      label={label}
      placeholder="Choose by name…"
      options={value && !options.some((one) => one.value === value) ? [{ value, label: value }, ...options] : options}
      value={value || null}
      onValueChange={(next) => onValue(next ?? '')}
      loading={list.isFetching}
      emptyText="No match in this space."
      {...(picker.searches ? { onQueryChange: setQuery } : {})}
    />
  );
}
