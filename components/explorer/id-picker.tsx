'use client';

import { type UseQueryOptions, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useTRPC } from '#components/trpc/provider.tsx';
import { Combobox } from '#components/ui/combobox.tsx';
import type { FieldPicker } from './field-picker.ts';

type Rows = { data: { id: string; name: string }[] };
type Props = {
  picker: FieldPicker;
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
